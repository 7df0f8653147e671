import { getRouteApi } from "@tanstack/react-router";
import { ApiError } from "../../api/client";
import { usePost } from "../../api/hooks";
import type { EndpointDetail, EndpointRow } from "../../api/types";
import { count, durationMs, percent, score } from "../../model/format";
import type { Sort } from "../../model/search";
import {
  APDEX_BANDS,
  APDEX_WORDS,
  apdexLevel,
  isJunkName,
  PER_MINUTE_WORDS,
  PERCENTILE_WORDS,
  SERVER_ERROR_WORDS,
} from "../../model/words";
import { DataTable } from "../../parts/DataTable";
import { useListBody } from "../../parts/listSearch";
import { NeverSeen } from "../../parts/NeverSeen";
import { NoData } from "../../parts/NoData";
import { occurrenceColumns } from "../../parts/occurrenceColumns";
import { PageHead, Section, Stats } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { QueryView, SkeletonRows } from "../../parts/states";
import { SearchLink } from "../../ui/SearchLink";
import { TAB } from "../../ui/Tabs";
import { SharedCursor } from "../../viz/cursor";
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
  if (query.error instanceof ApiError && query.error.status === 404) return <NeverSeen what="endpoint" name={name} />;
  return (
    <>
      <PageHead title={name} mono sub={<About name={name} />} />
      <div className="space-y-4 px-4 pb-6">
        <QueryView query={query} skeleton={<SkeletonRows rows={2} />}>
          {(detail) => <Numbers detail={detail} />}
        </QueryView>
        <SharedCursor>
          <div className="grid gap-4 xl:grid-cols-2">
            <DurationChart kind="endpoint" name={name} />
            <CallsChart kind="endpoint" name={name} />
          </div>
        </SharedCursor>
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
  // Nothing was called, or nothing that has a duration: no percentile, rather than one of zero.
  const any = <T,>(value: T) => (stats.count > 0 ? value : null);
  const timed = (ms: number) => durationMs(apdex === null ? null : ms);
  return (
    <Stats
      items={[
        { label: "Calls", value: count(stats.count) },
        { label: "Per minute", value: count(any(stats.throughput)), help: PER_MINUTE_WORDS },
        { label: "Usual (p50)", value: timed(stats.medianDuration), help: PERCENTILE_WORDS.p50 },
        { label: "Slow (p95)", value: timed(stats.p95Duration), help: PERCENTILE_WORDS.p95 },
        { label: "Slowest (p99)", value: timed(stats.p99Duration), help: PERCENTILE_WORDS.p99 },
        {
          label: "Server errors",
          value: percent(any(stats.serverErrorRate)),
          help: SERVER_ERROR_WORDS,
          tone: stats.serverErrorRate >= 0.01 ? "error" : undefined,
        },
        {
          label: "Client errors",
          value: percent(any(stats.clientErrorRate)),
          tone: (stats.clientErrorRate ?? 0) >= 0.1 ? "warn" : undefined,
        },
        {
          label: `Apdex (${APDEX_BANDS.detail})`,
          value: score(apdex),
          help: APDEX_WORDS.detail,
          tone: apdex === null ? undefined : apdexLevel(apdex),
        },
      ]}
    />
  );
}
