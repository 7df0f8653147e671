import { useRange } from "../../api/range";
import { align, slots } from "../../model/buckets";
import { count } from "../../model/format";
import { dateTime, parseMs } from "../../model/time";
import type { LogHistogram } from "../../model/types";
import { SEVERITIES, severity } from "../../model/words";
import { SEVERITY_BAR } from "../../parts/SeverityMark";
import { ChartFigure } from "../../viz/ChartFigure";
import { StackedBars } from "../../viz/StackedBars";

/** Records per interval, stacked by severity. Drag to zoom. */
export function Histogram({ data }: { data: LogHistogram }) {
  const { span, zoomTo } = useRange();
  const intervalMs = Math.max(1, data.intervalMinutes) * 60_000;
  const starts = slots(span.fromMs, span.toMs, intervalMs);
  const buckets = data.buckets ?? [];
  const series = SEVERITIES.map((level) => {
    const points = buckets.flatMap((bucket) =>
      Object.entries(bucket.counts)
        .filter(([text]) => severity(text) === level)
        .map(([, value]) => ({ ms: parseMs(bucket.timestamp), value })),
    );
    return {
      label: level === "UNSET" ? "no severity" : level,
      colour: SEVERITY_BAR[level],
      values: align(starts, points, intervalMs),
      total: points.reduce((sum, one) => sum + one.value, 0),
    };
  })
    .filter((one) => one.total > 0)
    .reverse();
  const total = series.reduce((sum, one) => sum + one.total, 0);
  return (
    <ChartFigure
      title={`${count(total)} records`}
      summary={`${count(total)} log records: ${series.map((one) => `${count(one.total)} ${one.label}`).join(", ") || "none"}.`}
      legend={[...series].reverse().map((one) => ({ label: `${one.label} ${count(one.total)}`, colour: one.colour }))}
      table={() => ({
        head: ["Time", ...series.map((one) => one.label)],
        rows: starts.map((start, i) => [dateTime(start), ...series.map((one) => count(one.values[i]))]),
      })}
    >
      <StackedBars starts={starts} intervalMs={intervalMs} series={series} height={96} format={count} onZoom={zoomTo} />
    </ChartFigure>
  );
}
