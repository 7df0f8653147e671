import { align, slots } from "../model/buckets";
import { count } from "../model/format";
import { dateTime, parseMs } from "../model/time";
import type { Point } from "../model/types";
import { ChartFigure } from "../viz/ChartFigure";
import { StackedBars } from "../viz/StackedBars";

const HOUR = 3_600_000;

/** Events per hour over the period with data, at least one day. */
export function IssueTrend({ points }: { points: Point[] | null }) {
  const data = (points ?? []).map((point) => ({ ms: parseMs(point.timestamp), value: point.count }));
  if (!data.length) return null;
  const last = Math.max(...data.map((point) => point.ms)) + 1;
  const first = Math.min(last - 24 * HOUR, ...data.map((point) => point.ms));
  const interval = Math.max(1, Math.ceil((last - first) / HOUR / 60)) * HOUR;
  const starts = slots(first, last, interval);
  const values = align(starts, data, interval);
  return (
    <ChartFigure
      title="Events"
      summary={`${count(data.reduce((sum, point) => sum + point.value, 0))} events since ${dateTime(first)}.`}
      table={() => ({ head: ["Time", "Events"], rows: starts.map((start, i) => [dateTime(start), count(values[i])]) })}
    >
      <StackedBars
        starts={starts}
        intervalMs={interval}
        series={[{ label: "Events", colour: "var(--error)", values }]}
        height={120}
        format={count}
      />
    </ChartFigure>
  );
}
