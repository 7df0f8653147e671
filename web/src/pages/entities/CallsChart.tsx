import { ENTITIES, type EntityKind } from "../../api/entities";
import { usePost } from "../../api/hooks";
import { align, slots } from "../../model/buckets";
import { count } from "../../model/format";
import { dateTime, parseMs } from "../../model/time";
import { useCompare } from "../../parts/compare";
import { useRange } from "../../parts/range";
import { QueryView, SkeletonBox } from "../../parts/states";
import { ChartFigure } from "../../viz/ChartFigure";
import { StackedBars } from "../../viz/StackedBars";

/** Calls of one entity over time; `title` is "Calls" or "Runs". */
export function CallsChart({ kind, name, title }: { kind: EntityKind; name: string; title: string }) {
  const { body, span, zoomTo } = useRange();
  const query = usePost(ENTITIES[kind].chart, { ...body, metricType: "count", [ENTITIES[kind].field]: name });
  const { comparison, before, shiftMs } = useCompare();
  const earlier = usePost(
    ENTITIES[kind].chart,
    { ...before, metricType: "count", [ENTITIES[kind].field]: name },
    { enabled: !!comparison },
  );
  return (
    <QueryView query={query} skeleton={<SkeletonBox height={230} />}>
      {(answer) => {
        const intervalMs = Math.max(1, answer.intervalMinutes) * 60_000;
        const starts = slots(span.fromMs, span.toMs, intervalMs);
        const points = (answer.series ?? []).map((point) => ({ ms: parseMs(point.timestamp), value: point.value }));
        const values = align(starts, points, intervalMs);
        const earlierPoints = (earlier.data?.series ?? []).map((point) => ({
          ms: parseMs(point.timestamp) + shiftMs,
          value: point.value,
        }));
        const line = comparison ? align(starts, earlierPoints, intervalMs) : undefined;
        const total = points.reduce((sum, point) => sum + point.value, 0);
        return (
          <ChartFigure
            title={title}
            summary={`${count(total)} ${title.toLowerCase()} in ${starts.length} intervals of ${answer.intervalMinutes} minutes.`}
            table={() => ({
              head: ["Time", title, ...(line ? [`${title} before`] : [])],
              rows: starts.map((start, i) => [dateTime(start), count(values[i]), ...(line ? [count(line[i])] : [])]),
            })}
          >
            <StackedBars
              starts={starts}
              intervalMs={intervalMs}
              series={[{ label: title, colour: "var(--accent)", values }]}
              before={line}
              height={190}
              format={count}
              onZoom={zoomTo}
            />
          </ChartFigure>
        );
      }}
    </QueryView>
  );
}
