// Calls, errors and durations of one service over time, with the deploys of the project.
import { useRange } from "../../api/range";
import { align, durationTicks, slots } from "../../model/buckets";
import { count, durationMs, durationRound, percent } from "../../model/format";
import { dateTime, parseMs } from "../../model/time";
import type { ServiceDetail } from "../../model/types";
import { ChartFigure } from "../../viz/ChartFigure";
import { LineChart } from "../../viz/LineChart";
import { StackedBars } from "../../viz/StackedBars";

const LINES = [
  { field: "p95Duration", label: "Slow (p95)", colour: "--c8" },
  { field: "p50Duration", label: "Usual (p50)", colour: "--c1" },
] as const;

export function ServiceCharts({ service }: { service: ServiceDetail }) {
  const { span, zoomTo } = useRange();
  const intervalMs = Math.max(1, service.intervalMinutes) * 60_000;
  const starts = slots(span.fromMs, span.toMs, intervalMs);
  const values = (of: (stats: ServiceDetail["stats"]) => number | null | undefined) =>
    align(
      starts,
      service.series.flatMap(({ timestamp, stats }) => {
        const value = of(stats);
        return value === null || value === undefined ? [] : [{ ms: parseMs(timestamp), value }];
      }),
      intervalMs,
    );
  const [failed, good] = [values((stats) => stats.errors), values((stats) => stats.calls - stats.errors)];
  const series = [
    { label: "Failed", colour: "var(--error)", values: failed },
    { label: "Successful", colour: "var(--accent)", values: good },
  ];
  const rates = values((stats) => (stats.calls ? stats.errors / stats.calls : null));
  const lines = LINES.map(({ field, ...line }) => ({
    ...line,
    values: values((stats) => {
      const ns = stats[field];
      return ns === null || ns === undefined ? null : ns / 1e6;
    }),
  }));
  const { calls, errors } = service.stats;
  return (
    <div className="grid grid-cols-1 gap-4 xl:grid-cols-3">
      <ChartFigure
        title="Calls served"
        summary={`${count(calls)} calls in ${starts.length} intervals of ${service.intervalMinutes} minutes.`}
        legend={series}
        table={() => ({
          head: ["Time", ...series.map((one) => one.label)],
          rows: starts.map((start, i) => [dateTime(start), ...series.map((one) => count(one.values[i]))]),
        })}
      >
        <StackedBars
          starts={starts}
          intervalMs={intervalMs}
          series={series}
          height={170}
          format={count}
          onZoom={zoomTo}
        />
      </ChartFigure>
      <ChartFigure
        title="Error rate"
        summary={`${count(errors)} of ${count(calls)} calls failed.`}
        table={() => ({
          head: ["Time", "Error rate"],
          rows: starts.map((start, i) => [dateTime(start), percent(rates[i])]),
        })}
      >
        <LineChart
          starts={starts}
          intervalMs={intervalMs}
          series={[{ label: "Error rate", colour: "--error", values: rates }]}
          height={170}
          format={percent}
          onZoom={zoomTo}
        />
      </ChartFigure>
      <ChartFigure
        title="Duration"
        summary={`Percentiles of the calls that the service served, in ${starts.length} intervals.`}
        legend={lines.map((line) => ({ label: line.label, colour: `var(${line.colour})` }))}
        table={() => ({
          head: ["Time", ...lines.map((line) => line.label)],
          rows: starts.map((start, i) => [dateTime(start), ...lines.map((line) => durationMs(line.values[i]))]),
        })}
      >
        <LineChart
          starts={starts}
          intervalMs={intervalMs}
          series={lines}
          height={170}
          format={durationMs}
          formatTick={durationRound}
          ticksFor={durationTicks}
          onZoom={zoomTo}
        />
      </ChartFigure>
    </div>
  );
}
