// The average duration of checks over time, stacked by phase.
import { useRange } from "../../api/range";
import { align, durationTicks, slots } from "../../model/buckets";
import { durationMs, durationRound } from "../../model/format";
import { dateTime, parseMs } from "../../model/time";
import type { CheckPoint, CheckSeries } from "../../model/types";
import { ChartFigure } from "../../viz/ChartFigure";
import { StackedBars } from "../../viz/StackedBars";

const PHASES: { label: string; colour: string; of: (point: CheckPoint) => number }[] = [
  { label: "DNS", colour: "var(--c1)", of: (point) => point.dnsMs },
  { label: "Connect", colour: "var(--c2)", of: (point) => point.connectMs },
  { label: "TLS", colour: "var(--c3)", of: (point) => point.tlsMs },
  { label: "Wait", colour: "var(--c4)", of: (point) => point.waitMs },
  { label: "Read", colour: "var(--c5)", of: read },
];

const SCRIPT: typeof PHASES = [{ label: "Script", colour: "var(--c1)", of: (point) => point.totalMs ?? 0 }];

/** Rest of the duration: reading the body. */
function read(point: CheckPoint): number {
  return Math.max(0, (point.totalMs ?? 0) - point.dnsMs - point.connectMs - point.tlsMs - point.waitMs);
}

export function DurationChart({ series, isScript }: { series: CheckSeries; isScript: boolean }) {
  const { span, zoomTo } = useRange();
  const intervalMs = Math.max(1, series.bucketSeconds) * 1000;
  const starts = slots(span.fromMs, span.toMs, intervalMs);
  const values = (of: (point: CheckPoint) => number) =>
    align(
      starts,
      series.points.flatMap((point) => (point.totalMs === null ? [] : [{ ms: parseMs(point.at), value: of(point) }])),
      intervalMs,
    );
  const phases = (isScript ? SCRIPT : PHASES).map(({ of, ...phase }) => ({ ...phase, values: values(of) }));
  const longest = Math.max(0, ...series.points.map((point) => point.maxMs ?? 0));
  return (
    <ChartFigure
      title="Duration"
      summary={`Average durations in ${starts.length} intervals; the longest check took ${durationMs(longest)}.`}
      legend={phases}
      table={() => ({
        head: ["Time", ...phases.map((phase) => phase.label)],
        rows: starts.map((start, i) => [dateTime(start), ...phases.map((phase) => durationMs(phase.values[i]))]),
      })}
    >
      <StackedBars
        starts={starts}
        intervalMs={intervalMs}
        series={phases}
        height={190}
        format={durationMs}
        formatTick={durationRound}
        ticksFor={durationTicks}
        onZoom={zoomTo}
      />
    </ChartFigure>
  );
}
