// Percentiles (p50, p95, p99) of one endpoint or task over time.
import { ENTITIES } from "../../api/entities";
import { usePost } from "../../api/hooks";
import { useRange } from "../../api/range";
import { align, durationTicks, slots } from "../../model/buckets";
import { durationMs, durationRound } from "../../model/format";
import { dateTime, parseMs } from "../../model/time";
import type { ChartAnswer } from "../../model/types";
import { useCompare } from "../../parts/compare";
import { QueryView, SkeletonBox } from "../../parts/states";
import { ChartFigure } from "../../viz/ChartFigure";
import { LineChart, type LineSeries } from "../../viz/LineChart";

const LINES = [
  { metric: "p99", label: "Slowest (p99)", colour: "--c2" },
  { metric: "p95", label: "Slow (p95)", colour: "--c8" },
  { metric: "p50", label: "Usual (p50)", colour: "--c1" },
] as const;

export function DurationChart({ kind, name }: { kind: "endpoint" | "task"; name: string }) {
  const { body, span, zoomTo } = useRange();
  const bodyOf = (metricType: "p50" | "p95" | "p99") => ({ ...body, metricType, [ENTITIES[kind].field]: name });
  const p99 = usePost(ENTITIES[kind].chart, bodyOf("p99"));
  const p95 = usePost(ENTITIES[kind].chart, bodyOf("p95"));
  const p50 = usePost(ENTITIES[kind].chart, bodyOf("p50"));
  const { comparison, before, shiftMs } = useCompare();
  const earlier = (metricType: "p50" | "p95") => ({ ...bodyOf(metricType), ...before });
  const was95 = usePost(ENTITIES[kind].chart, earlier("p95"), { enabled: !!comparison });
  const was50 = usePost(ENTITIES[kind].chart, earlier("p50"), { enabled: !!comparison });
  return (
    <QueryView query={p99} skeleton={<SkeletonBox height={230} />}>
      {(first) => {
        const intervalMs = Math.max(1, first.intervalMinutes) * 60_000;
        const starts = slots(span.fromMs, span.toMs, intervalMs);
        const answers: (ChartAnswer | undefined)[] = [first, p95.data, p50.data];
        const series: LineSeries[] = LINES.map((line, i) => ({
          ...line,
          values: align(
            starts,
            (answers[i]?.series ?? []).map((point) => ({ ms: parseMs(point.timestamp), value: point.value })),
            intervalMs,
          ),
        }));
        if (comparison)
          for (const [line, answer] of [
            [LINES[1], was95.data],
            [LINES[2], was50.data],
          ] as const) {
            const points = ((answer as ChartAnswer | undefined)?.series ?? []).map((point) => ({
              ms: parseMs(point.timestamp) + shiftMs,
              value: point.value,
            }));
            series.push({
              ...line,
              label: `${line.label} before`,
              dash: true,
              values: align(starts, points, intervalMs),
            });
          }
        const worst = Math.max(0, ...series[0].values.map((value) => value ?? 0));
        return (
          <ChartFigure
            title="Duration"
            summary={`Percentiles in ${starts.length} intervals of ${first.intervalMinutes} minutes; the slowest 1 % reached ${durationMs(worst)}.`}
            legend={series.map((line) => ({ label: line.label, colour: `var(${line.colour})` }))}
            table={() => ({
              head: ["Time", ...series.map((line) => line.label)],
              rows: starts.map((start, i) => [dateTime(start), ...series.map((line) => durationMs(line.values[i]))]),
            })}
          >
            <LineChart
              starts={starts}
              intervalMs={intervalMs}
              series={series}
              height={190}
              format={durationMs}
              formatTick={durationRound}
              ticksFor={durationTicks}
              onZoom={zoomTo}
            />
          </ChartFigure>
        );
      }}
    </QueryView>
  );
}
