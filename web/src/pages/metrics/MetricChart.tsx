import { getRouteApi } from "@tanstack/react-router";
import { usePost } from "../../api/hooks";
import { useRange } from "../../api/range";
import { align, slots } from "../../model/buckets";
import { count, durationRound, withUnit } from "../../model/format";
import { filtersText, parseFilters } from "../../model/search";
import { dateTime, parseMs } from "../../model/time";
import type { Aggregation, MetricAnswer, MetricInfo } from "../../model/types";
import { FilterInput } from "../../parts/FilterInput";
import { usePatchSearch } from "../../parts/listSearch";
import { Empty, QueryView, SkeletonBox } from "../../parts/states";
import { Select } from "../../ui/Select";
import { ChartFigure } from "../../viz/ChartFigure";
import { LineChart } from "../../viz/LineChart";
import { slotVariable } from "../../viz/palette";
import { useServiceColours } from "../../viz/useServiceColours";

const route = getRouteApi("/p/$pid/metrics");
const AGGREGATIONS: [Aggregation, string][] = [
  ["avg", "Average"],
  ["sum", "Sum"],
  ["min", "Lowest"],
  ["max", "Highest"],
  ["last", "Last"],
  ["rate", "Per second"],
  ["count", "Points"],
  ["p50", "p50"],
  ["p95", "p95"],
  ["p99", "p99"],
];
const LINES_MAX = 12;
/** Tags whose values are service names; their lines use the colours of the services. */
const SERVICE_TAGS = ["server_name", "service.name"];

export function MetricChart({ metric }: { metric: MetricInfo }) {
  const search = route.useSearch();
  const patch = usePatchSearch();
  const { body } = useRange();
  const filters = parseFilters(search.filter);
  const fallback =
    metric.metricType === "counter" || metric.name.endsWith(".count") ? ("sum" as const) : ("avg" as const);
  const aggregation = AGGREGATIONS.find(([value]) => value === search.agg)?.[0] ?? fallback;
  const query = usePost("/api/metrics/query", {
    queries: [
      {
        name: metric.name,
        aggregation,
        groupBy: search.by ?? null,
        inverted: false,
        tagFilters: Object.fromEntries(filters.map((one) => [one.key, one.value])),
      },
    ],
    from: body.fromDate,
    to: body.toDate,
  });
  return (
    <section aria-label={metric.name} className="min-w-0 space-y-3">
      <div className="flex flex-wrap items-center gap-3">
        <Select
          show
          label="Show"
          value={aggregation}
          options={AGGREGATIONS.map(([value, label]) => ({ value, label }))}
          onChange={(agg) => patch({ agg: agg === fallback ? undefined : agg })}
        />
        <Select
          show
          label="by"
          value={search.by ?? ""}
          options={[
            { value: "", label: "nothing" },
            ...(metric.tagKeys ?? []).map((key) => ({ value: key, label: key })),
          ]}
          onChange={(by) => patch({ by: by || undefined })}
        />
        <FilterInput label="Tag filter" filters={filters} onChange={(next) => patch({ filter: filtersText(next) })} />
      </div>
      <QueryView query={query} skeleton={<SkeletonBox height={340} />}>
        {(answer) => (
          <Lines
            answer={answer}
            metric={metric}
            perSecond={aggregation === "rate"}
            plain={aggregation === "count"}
            by={search.by}
          />
        )}
      </QueryView>
    </section>
  );
}

function Lines({
  answer,
  metric,
  perSecond,
  plain,
  by,
}: {
  answer: MetricAnswer;
  metric: MetricInfo;
  perSecond: boolean;
  plain: boolean;
  by?: string;
}) {
  const { span, zoomTo } = useRange();
  const result = answer.results[0];
  const minutes = answer.intervalMinutes || result?.intervalMinutes || 1;
  const intervalMs = minutes * 60_000;
  const starts = slots(span.fromMs, span.toMs, intervalMs);
  const unit = plain ? "" : (result?.unit ?? metric.unit);
  const format = (value: number) => `${withUnit(value, unit)}${perSecond ? "/s" : ""}`;
  const formatTick = (value: number) => `${withUnit(value, unit, durationRound)}${perSecond ? "/s" : ""}`;
  const groups = Object.entries(result?.series ?? {})
    .map(([key, points]) => ({ key, points, size: points.reduce((sum, point) => sum + Math.abs(point.value), 0) }))
    .filter((group) => group.points.length > 0)
    .sort((a, b) => b.size - a.size);
  const lines = groups.slice(0, LINES_MAX);
  const isByService = SERVICE_TAGS.includes(by ?? "");
  const colourOf = useServiceColours(isByService ? lines.map((group) => group.key) : []);
  if (!groups.length)
    return (
      <div className="panel">
        <Empty title="No points in this time range">
          The metric exists, but nothing was measured here, or the filters leave nothing.
        </Empty>
      </div>
    );
  const series = lines.map((group, i) => ({
    label: group.key === "__all__" ? metric.name : group.key || "(empty)",
    colour: slotVariable(isByService ? colourOf(group.key) : i),
    dash: i >= 8,
    values: align(
      starts,
      group.points.map((point) => ({ ms: parseMs(point.timestamp), value: point.value })),
      intervalMs,
    ),
  }));
  const hidden = groups.length - series.length;
  return (
    <>
      <ChartFigure
        title={metric.name}
        summary={`${metric.name}, ${series.length} lines, one point per ${minutes} minutes.`}
        legend={
          series.length > 1 ? series.map((one) => ({ label: one.label, colour: `var(${one.colour})` })) : undefined
        }
        table={() => ({
          head: ["Time", ...series.map((one) => one.label)],
          rows: starts.map((start, i) => [
            dateTime(start),
            ...series.map((one) => (one.values[i] === null ? "–" : format(one.values[i]!))),
          ]),
        })}
      >
        <LineChart
          starts={starts}
          intervalMs={intervalMs}
          series={series}
          height={300}
          format={format}
          formatTick={formatTick}
          onZoom={zoomTo}
        />
      </ChartFigure>
      <p className="text-ink2">
        One point per {minutes} min.
        {hidden > 0 ? ` The largest ${LINES_MAX} of ${count(groups.length)} groups are drawn.` : ""}
        {result?.truncatedGroups ? " The server answered with the first 200 groups only: add a filter." : ""}
      </p>
    </>
  );
}
