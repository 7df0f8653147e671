// The chart above a ranking: top five names and "Other". Sums are stacked bars, percentiles are lines.
import { ENTITIES, type EntityKind } from "../../api/entities";
import { usePost } from "../../api/hooks";
import { useRange } from "../../api/range";
import type { PostRoutes } from "../../api/routes";
import { align, durationTicks, niceTicks, slots } from "../../model/buckets";
import { count, durationMs, durationRound, usd, usdRound } from "../../model/format";
import { dateTime, parseMs } from "../../model/time";
import type { AiFlag, AiGrouping, ChartAnswer } from "../../model/types";
import { useCompare } from "../../parts/compare";
import { QueryView, SkeletonBox } from "../../parts/states";
import { Segmented } from "../../ui/Segmented";
import { ChartFigure } from "../../viz/ChartFigure";
import { LineChart } from "../../viz/LineChart";
import { slotVariable } from "../../viz/palette";
import { StackedBars } from "../../viz/StackedBars";

interface Metric {
  value: PostRoutes[(typeof ENTITIES)[EntityKind]["chart"]]["body"]["metricType"] & string;
  label: string;
  title: string;
  stacked?: boolean;
  format: (value: number) => string;
  /** Format of axis labels; default `format`. */
  formatTick?: (value: number) => string;
}
const DURATION = { format: durationMs, formatTick: durationRound };
const TIME: Metric[] = [
  { value: "total_time", label: "Time spent", title: "Where the time goes", stacked: true, ...DURATION },
  { value: "p50", label: "Usual", title: "Usual duration (p50)", ...DURATION },
  { value: "p95", label: "Slow", title: "Slow calls (p95)", ...DURATION },
  { value: "p99", label: "Slowest", title: "Slowest calls (p99)", ...DURATION },
  { value: "count", label: "Calls", title: "Calls", stacked: true, format: count },
];
const AI: Metric[] = [
  { value: "cost", label: "Cost", title: "What it costs", stacked: true, format: usd, formatTick: usdRound },
  { value: "tokens", label: "Tokens", title: "Tokens", stacked: true, format: count },
  { value: "token_kinds", label: "Token kinds", title: "Tokens by kind", stacked: true, format: count },
  { value: "count", label: "Calls", title: "Calls", stacked: true, format: count },
  { value: "p95", label: "Slow", title: "Slow calls (p95)", ...DURATION },
];
/** Tool runs have neither cost nor tokens. */
const AI_TOOLS = AI.filter((one) => !["cost", "tokens", "token_kinds"].includes(one.value));
export const CHART_HEIGHT = 190;

export function EntityChart({
  kind,
  metric,
  calls,
  groupBy,
  flags,
  none,
  query: text,
  onMetric,
}: {
  kind: EntityKind;
  metric?: string;
  /** Selects AI traces: all, model calls or tool runs. */
  calls?: "all" | "model" | "tool";
  /** Key that forms the lines of AI traces; the name when absent. */
  groupBy?: AiGrouping;
  /** Only AI traces with at least one of these flags. */
  flags?: AiFlag[];
  /** Label of the line of rows without a value. */
  none?: string;
  /** Only rows that meet this query. */
  query?: string;
  onMetric: (metric: string | undefined) => void;
}) {
  const choices = kind !== "aiTrace" ? TIME : calls === "tool" ? AI_TOOLS : AI;
  const chosen = choices.find((one) => one.value === metric) ?? choices[0];
  const { body } = useRange();
  const { comparison, before, shiftMs } = useCompare();
  const wanted = {
    metricType: chosen.value as never,
    ...(text && { query: text }),
    ...(calls && { calls }),
    ...(groupBy && { groupBy }),
    ...(flags?.length && { flags }),
  };
  const query = usePost(ENTITIES[kind].chart, { ...body, ...wanted });
  const earlier = usePost(ENTITIES[kind].chart, { ...before, ...wanted }, { enabled: !!comparison });
  const compared = comparison && earlier.data ? { answer: earlier.data as ChartAnswer, shiftMs } : undefined;
  const picker = (
    <Segmented
      label="Measure"
      value={chosen.value}
      options={choices}
      onChange={(value) => onMetric(value === choices[0].value ? undefined : value)}
    />
  );
  return (
    <QueryView query={query} skeleton={<SkeletonBox height={CHART_HEIGHT + 48} />}>
      {(answer) => <Chart answer={answer} metric={chosen} picker={picker} compared={compared} none={none} />}
    </QueryView>
  );
}

interface ChartProps {
  answer: ChartAnswer;
  metric: Metric;
  picker: React.ReactNode;
  /** The chart of the compared time, and how far back it is. */
  compared?: { answer: ChartAnswer; shiftMs: number };
  none?: string;
}

const nameOf = (point: ChartAnswer["series"][number]) => point.endpoint ?? point.task ?? point.trace;

function Chart({ answer, metric, picker, compared, none = "–" }: ChartProps) {
  const { span, zoomTo } = useRange();
  const intervalMs = Math.max(1, answer.intervalMinutes) * 60_000;
  const starts = slots(span.fromMs, span.toMs, intervalMs);
  const names = answer.endpoints ?? answer.tasks ?? answer.traces ?? [];
  const points = answer.series ?? [];
  const series = names.map((name, i) => ({
    label: name || none,
    slot: name === "Other" ? -1 : i,
    values: align(
      starts,
      points
        .filter((point) => nameOf(point) === name)
        .map((point) => ({ ms: parseMs(point.timestamp), value: point.value })),
      intervalMs,
    ),
  }));
  const earlier = (compared?.answer.series ?? []).map((point) => ({
    name: nameOf(point),
    ms: parseMs(point.timestamp) + (compared?.shiftMs ?? 0),
    value: point.value,
  }));
  const before = compared ? align(starts, earlier, intervalMs) : undefined;
  const dashed = series
    .filter((one) => compared && one.slot >= 0 && earlier.some((point) => point.name === one.label))
    .map((one) => ({
      label: `${one.label} before`,
      slot: one.slot,
      values: align(
        starts,
        earlier.filter((point) => point.name === one.label),
        intervalMs,
      ),
    }));
  const ticksFor = metric.format === durationMs ? durationTicks : niceTicks;
  const total = points.reduce((sum, point) => sum + point.value, 0);
  const summary = points.length
    ? `${metric.title}, ${series.length} series in ${starts.length} intervals of ${answer.intervalMinutes} minutes.${metric.stacked ? ` In all ${metric.format(total)}; most for ${names[0] || none}.` : ""}`
    : "Nothing was measured in this time range.";
  return (
    <ChartFigure
      title={metric.title}
      summary={summary}
      actions={picker}
      legend={series.map((one) => ({ label: one.label, colour: `var(${slotVariable(one.slot)})` }))}
      table={() => ({
        head: ["Time", ...series.map((one) => one.label)],
        rows: starts.map((start, i) => [
          dateTime(start),
          ...series.map((one) => (one.values[i] === null ? "–" : metric.format(one.values[i]!))),
        ]),
      })}
    >
      {metric.stacked ? (
        <StackedBars
          starts={starts}
          intervalMs={intervalMs}
          height={CHART_HEIGHT}
          format={metric.format}
          formatTick={metric.formatTick}
          ticksFor={ticksFor}
          onZoom={zoomTo}
          series={series.map((one) => ({ ...one, colour: `var(${slotVariable(one.slot)})` }))}
          before={before}
        />
      ) : (
        <LineChart
          starts={starts}
          intervalMs={intervalMs}
          height={CHART_HEIGHT}
          format={metric.format}
          formatTick={metric.formatTick}
          ticksFor={ticksFor}
          onZoom={zoomTo}
          series={[
            ...series.map((one) => ({ ...one, colour: slotVariable(one.slot), dash: one.slot < 0 })),
            ...dashed.map((one) => ({ ...one, colour: slotVariable(one.slot), dash: true })),
          ]}
        />
      )}
    </ChartFigure>
  );
}
