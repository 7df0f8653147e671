import { getRouteApi } from "@tanstack/react-router";
import { usePost } from "../../api/hooks";
import type { EndpointDetail, EndpointRow } from "../../api/types";
import { count, durationMs, percent, score } from "../../model/format";
import type { Sort } from "../../model/search";
import { APDEX_WORDS, apdexLevel, isJunkName, PERCENTILE_WORDS } from "../../model/words";
import { DataTable } from "../../parts/DataTable";
import { useListBody } from "../../parts/listSearch";
import { NoData } from "../../parts/NoData";
import { occurrenceColumns } from "../../parts/occurrenceColumns";
import { PageHead, Section, Stats } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { QueryView, SkeletonRows } from "../../parts/states";
import { SearchLink } from "../../ui/SearchLink";
import { TAB } from "../../ui/Tabs";
import { CallsChart } from "./CallsChart";
import { DurationChart } from "./DurationChart";
import { StatusMix } from "./StatusMix";

const route = getRouteApi("/p/$pid/endpoints/$name");
const SORTS = ["duration", "recorded_at", "status_code"] as const;
const TABS = [
  { value: "slowest", label: "Slowest", by: "duration" },
  { value: "latest", label: "Latest", by: "recorded_at" },
  { value: "errors", label: "Failed first", by: "status_code" },
] as const;

export function EndpointPage() {
  const { name } = route.useParams();
  const search = route.useSearch();
  const tab = TABS.find((one) => one.value === search.tab) ?? TABS[0];
  const { sort, body } = useListBody(search, SORTS, { by: tab.by, desc: true } as Sort<(typeof SORTS)[number]>, 25);
  const query = usePost("/api/endpoints/endpoint", body, { query: { endpoint: name } });
  return (
    <>
      <PageHead title={name} mono sub={<About name={name} />} />
      <div className="space-y-4 px-4 pb-6">
        <QueryView query={query} skeleton={<SkeletonRows rows={2} />}>
          {(detail) => <Numbers detail={detail} />}
        </QueryView>
        <div className="grid gap-4 xl:grid-cols-2">
          <DurationChart kind="endpoint" name={name} />
          <CallsChart kind="endpoint" name={name} />
        </div>
        {query.data && (
          <Section title="Answers by status">
            <StatusMix counts={query.data.statusCounts ?? {}} />
          </Section>
        )}
        <section aria-label="Requests" className="panel overflow-x-auto">
          <nav aria-label="Which requests" className="flex gap-1 border-line border-b px-2">
            {TABS.map((one) => (
              <SearchLink
                key={one.value}
                change={{ tab: one.value === "slowest" ? undefined : one.value, sort: undefined, page: undefined }}
                className={TAB}
                current={one.value === tab.value}
              >
                {one.label}
              </SearchLink>
            ))}
          </nav>
          <QueryView query={query}>
            {(detail) =>
              detail.data?.length ? (
                <>
                  <DataTable
                    label="Requests"
                    columns={occurrenceColumns<EndpointRow>(true)}
                    rows={detail.data}
                    rowKey={(row) => row.id}
                    sort={sort}
                  />
                  <Pager pagination={detail.pagination} noun="requests" />
                </>
              ) : (
                <NoData what="requests" about="Each request to this endpoint is listed here and opens as a trace." />
              )
            }
          </QueryView>
        </section>
      </div>
    </>
  );
}

function About({ name }: { name: string }) {
  if (name === "UNMATCHED") return <span>Requests answered 404 that no route of the application took.</span>;
  if (isJunkName(name))
    return <span>These spans carried no HTTP method, so the name is the span's own and the status is unknown.</span>;
  return null;
}

function Numbers({ detail }: { detail: EndpointDetail }) {
  const { stats } = detail;
  const apdex = stats.apdex ?? null;
  return (
    <Stats
      items={[
        { label: "Calls", value: count(stats.count) },
        { label: "Per minute", value: count(stats.throughput) },
        { label: "Usual (p50)", value: durationMs(stats.medianDuration), help: PERCENTILE_WORDS.p50 },
        { label: "Slow (p95)", value: durationMs(stats.p95Duration), help: PERCENTILE_WORDS.p95 },
        { label: "Slowest (p99)", value: durationMs(stats.p99Duration), help: PERCENTILE_WORDS.p99 },
        {
          label: "Server errors",
          value: percent(stats.errorRate),
          tone: stats.errorRate >= 0.01 ? "error" : undefined,
        },
        {
          label: "Client errors",
          value: percent(stats.clientErrorRate),
          tone: (stats.clientErrorRate ?? 0) >= 0.1 ? "warn" : undefined,
        },
        {
          label: "Apdex",
          value: score(apdex),
          help: APDEX_WORDS.detail,
          tone: apdex === null ? undefined : apdexLevel(apdex),
        },
      ]}
    />
  );
}
