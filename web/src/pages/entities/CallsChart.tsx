import { ENTITIES } from "../../api/entities";
import { usePost } from "../../api/hooks";
import { useRange } from "../../api/range";
import { align, slots } from "../../model/buckets";
import { count } from "../../model/format";
import { type NameSearch, SPLITS } from "../../model/telemetry-search";
import { dateTime, parseMs } from "../../model/time";
import type { ChartAnswer } from "../../model/types";
import { useCompare } from "../../parts/compare";
import { usePatchSearch } from "../../parts/listSearch";
import { QueryView, SkeletonBox } from "../../parts/states";
import { Select } from "../../ui/Select";
import { ChartFigure } from "../../viz/ChartFigure";
import { slotColour } from "../../viz/palette";
import { StackedBars } from "../../viz/StackedBars";

type Split = NonNullable<NameSearch["split"]>;

interface Props {
  kind: "endpoint" | "task";
  name: string;
  title: "Calls" | "Runs";
  split?: Split;
}

/** Calls of one entity over time, split by nothing, their status, version or service. */
export function CallsChart({ kind, name, title, split }: Props) {
  const { body, span, zoomTo } = useRange();
  const patch = usePatchSearch();
  const { comparison, before, shiftMs } = useCompare();
  const wanted = { metricType: "count" as const, [ENTITIES[kind].field]: name };
  const query = usePost(ENTITIES[kind].chart, { ...body, ...wanted, ...(split && { groupBy: split }) } as object);
  const earlier = usePost(ENTITIES[kind].chart, { ...before, ...wanted }, { enabled: !!comparison });
  const picker = (
    <Select
      label="Split by"
      value={split ?? ""}
      options={[
        { value: "", label: "Not split" },
        ...SPLITS.filter((one) => one !== "status" || kind === "endpoint").map((one) => ({
          value: one,
          label: `By ${one}`,
        })),
      ]}
      onChange={(value) => patch({ split: value || undefined }, true)}
    />
  );
  return (
    <QueryView query={query} skeleton={<SkeletonBox height={230} />}>
      {(answer) => {
        const intervalMs = Math.max(1, answer.intervalMinutes) * 60_000;
        const starts = slots(span.fromMs, span.toMs, intervalMs);
        const series = linesOf(answer as ChartAnswer, split).map(({ label, colour, points }) => ({
          label: label ?? title,
          colour,
          values: align(starts, points, intervalMs),
          total: points.reduce((sum, point) => sum + point.value, 0),
        }));
        const earlierPoints = (earlier.data?.series ?? []).map((point) => ({
          ms: parseMs(point.timestamp) + shiftMs,
          value: point.value,
        }));
        const line = comparison ? align(starts, earlierPoints, intervalMs) : undefined;
        const total = series.reduce((sum, one) => sum + one.total, 0);
        return (
          <ChartFigure
            title={title}
            summary={`${count(total)} ${title.toLowerCase()} in ${starts.length} intervals of ${answer.intervalMinutes} minutes.`}
            legend={split ? series : undefined}
            actions={picker}
            table={() => ({
              head: ["Time", ...series.map((one) => one.label), ...(line ? [`${title} before`] : [])],
              rows: starts.map((start, i) => [
                dateTime(start),
                ...series.map((one) => count(one.values[i])),
                ...(line ? [count(line[i])] : []),
              ]),
            })}
          >
            <StackedBars
              starts={starts}
              intervalMs={intervalMs}
              series={series}
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

interface Line {
  /** Null: the title of the chart. */
  label: string | null;
  colour: string;
  points: { ms: number; value: number }[];
}

const OTHER = "Other";

function linesOf(answer: ChartAnswer, split: Split | undefined): Line[] {
  const point = ({ timestamp, value }: ChartAnswer["series"][number]) => ({ ms: parseMs(timestamp), value });
  const all = answer.series ?? [];
  if (!split) return [{ label: null, colour: "var(--accent)", points: all.map(point) }];
  const nameOf = (one: ChartAnswer["series"][number]) => one.endpoint ?? one.task ?? "";
  const names = answer.endpoints ?? answer.tasks ?? [];
  return names.map((name, slot) => ({
    label: name || "unknown",
    colour: split === "status" ? statusColour(name, slot) : slotColour(name === OTHER ? -1 : slot),
    points: all.filter((one) => nameOf(one) === name).map(point),
  }));
}

/** Failures have the colours of their class, which are otherwise not used for series. */
function statusColour(code: string, slot: number): string {
  if (code.startsWith("5")) return "var(--error)";
  if (code.startsWith("4")) return "var(--warn)";
  return slotColour(code === OTHER || !code ? -1 : slot);
}
