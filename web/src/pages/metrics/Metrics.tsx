import { getRouteApi } from "@tanstack/react-router";
import { useGet } from "../../api/hooks";
import { useRange } from "../../api/range";
import { count, plural } from "../../model/format";
import type { MetricInfo } from "../../model/types";
import { usePatchSearch } from "../../parts/listSearch";
import { NoData } from "../../parts/NoData";
import { PageHead } from "../../parts/Page";
import { Empty, QueryView } from "../../parts/states";
import { Breakable } from "../../ui/Breakable";
import { SearchBox } from "../../ui/SearchBox";
import { SearchLink } from "../../ui/SearchLink";
import { MetricChart } from "./MetricChart";

const route = getRouteApi("/p/$pid/metrics");
const LIST_MAX = 300;

export function MetricsPage() {
  const search = route.useSearch();
  const patch = usePatchSearch();
  const { body } = useRange();
  const discover = useGet("/api/metrics/discover", { query: { from: body.fromDate, to: body.toDate } });
  return (
    <>
      <PageHead title="Metrics" sub="Counters, gauges and histograms as your services sent them." />
      <div className="px-4 pb-6">
        <QueryView query={discover}>
          {({ metrics }) => {
            const all = metrics ?? [];
            if (!all.length)
              return (
                <div className="panel">
                  <NoData what="metrics" about="Counters, gauges and histograms sent over OTLP are listed here." />
                </div>
              );
            const shown = all.filter((one) => one.name.toLowerCase().includes((search.q ?? "").toLowerCase()));
            const chosen = all.find((one) => one.name === search.name);
            return (
              <div className="grid grid-cols-1 gap-4 lg:grid-cols-[320px_minmax(0,1fr)]">
                <section aria-label="Metric names" className="panel flex max-h-[75vh] flex-col max-lg:max-h-80">
                  <div className="flex border-line border-b p-2 [&>div]:max-w-none">
                    <SearchBox
                      label="Search metrics"
                      placeholder={`Search ${plural(all.length, "metric")}`}
                      value={search.q ?? ""}
                      onSearch={(q) => patch({ q: q || undefined }, true)}
                    />
                  </div>
                  <Names metrics={shown} chosen={search.name} />
                </section>
                {chosen ? (
                  <MetricChart key={chosen.name} metric={chosen} />
                ) : (
                  <div className="panel grid place-items-center">
                    <Empty title="Choose a metric">
                      Its points over the time range are drawn here, split by any of its tags.
                    </Empty>
                  </div>
                )}
              </div>
            );
          }}
        </QueryView>
      </div>
    </>
  );
}

function Names({ metrics, chosen }: { metrics: MetricInfo[]; chosen?: string }) {
  if (!metrics.length) return <p className="p-4 text-ink2">No metric matches.</p>;
  return (
    <ul className="min-h-0 flex-1 overflow-y-auto p-1">
      {metrics.slice(0, LIST_MAX).map((metric) => (
        <li key={metric.name}>
          <SearchLink
            change={{ name: metric.name, agg: undefined, by: undefined, filter: undefined }}
            current={metric.name === chosen}
            className="block rounded-control px-2 py-1 hover:bg-hover aria-[current=page]:bg-accentsoft"
            data-row-link
          >
            <span className="block font-mono text-dense [overflow-wrap:anywhere]">
              <Breakable name={metric.name} />
            </span>
            <span className="text-caption text-ink2">
              {metric.metricType}
              {metric.unit && metric.unit !== "1" ? ` · ${metric.unit}` : ""} · {count(metric.pointCount)} points
            </span>
          </SearchLink>
        </li>
      ))}
      {metrics.length > LIST_MAX && (
        <li className="p-2 text-ink2">
          Showing {LIST_MAX} of {count(metrics.length)}: narrow the search.
        </li>
      )}
    </ul>
  );
}
