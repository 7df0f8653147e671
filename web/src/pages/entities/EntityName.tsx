// The page of one entity: statistics, charts and single rows.
import type { ReactNode } from "react";
import { ApiError } from "../../api/client";
import { ENTITIES, type EntityKind, type RowOrder } from "../../api/entities";
import { usePost } from "../../api/hooks";
import { useRange } from "../../api/range";
import type { PostRoutes } from "../../api/routes";
import type { Counted } from "../../model/estimate";
import { allOf, equals } from "../../model/query";
import type { Sort } from "../../model/search";
import type { NameSearch } from "../../model/telemetry-search";
import { AlertOnThis } from "../../parts/AlertOnThis";
import { CompareSelect } from "../../parts/compare";
import { type Column, DataTable } from "../../parts/DataTable";
import { EstimatedNote } from "../../parts/Estimated";
import { Latency } from "../../parts/explain/Latency";
import { useListBody, usePatchSearch } from "../../parts/listSearch";
import { NeverSeen } from "../../parts/NeverSeen";
import { NoData } from "../../parts/NoData";
import { ChangeChip, SinceNote } from "../../parts/OpenChange";
import { PageHead, type StatItem, Stats } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { SinceVersion } from "../../parts/SinceVersion";
import { QueryView, SkeletonRows } from "../../parts/states";
import { SearchLink } from "../../ui/SearchLink";
import { Select } from "../../ui/Select";
import { TAB } from "../../ui/Tabs";
import { SharedCursor } from "../../viz/cursor";
import { CallsChart } from "./CallsChart";
import { DurationChart } from "./DurationChart";
import { ComparedNumbers } from "./deltas";
import { EntityIssues, EntityLogs } from "./EntityRecords";
import { useSince } from "./openChanges";
import { WhereTime } from "./WhereTime";

type Answer<K extends EntityKind> = PostRoutes[(typeof ENTITIES)[K]["rows"]]["answer"];
type Row<K extends EntityKind> = Answer<K>["data"][number];

const ENTITY_NOUNS = { endpoint: "endpoint", task: "task", aiTrace: "AI trace" } as const;
/** Kinds as `/api/explain` and `/api/first-version` name them. */
const API_KINDS = { endpoint: "endpoint", task: "task", aiTrace: "ai_trace" } as const;
const ROWS_MAX = 25;
/** The statistics need no row. */
const ONE = { page: 1, pageSize: 1 };

interface Props<K extends EntityKind> {
  kind: K;
  name: string;
  search: NameSearch;
  mono?: boolean;
  sub?: ReactNode;
  columns: Column<Row<K>, RowOrder<K>>[];
  /** The samples that are listed first; the slowest ones when absent. */
  first?: { label: string; by: RowOrder<K> };
  /** Title of the rows, such as "Runs". */
  rowsTitle: string;
  /** Explains in an empty list what creates rows. */
  about: string;
  stats: (answer: Answer<K>) => StatItem[];
  /** Content between the charts and the rows. */
  more?: (answer: Answer<K>) => ReactNode;
}

export function EntityName<K extends EntityKind>(page: Props<K>) {
  const { kind, name, search, rowsTitle } = page;
  const patch = usePatchSearch();
  const samples = useSamples(page);
  // The cast is sound: the columns' orders come from this kind's route, which tsc cannot infer from `kind`.
  const of = { [ENTITIES[kind].field]: name };
  const { body: range } = useRange();
  const all = usePost(ENTITIES[kind].rows, { ...range, query: search.where, pagination: ONE } as object, { query: of });
  // An explanation and its conditions are about the range.
  const since = useSince(kind, name, !search.explain && !search.where);
  const question = {
    route: ENTITIES[kind].rows,
    query: of,
    body: { ...samples.body, query: allOf(search.where, samples.queryOf(medianMs(all.data))) } as object,
  };
  const query = usePost(question.route, question.body, {
    query: question.query,
    enabled: !samples.current.waits || !!all.data,
  });
  if (all.error instanceof ApiError && all.error.status === 404)
    return <NeverSeen what={ENTITY_NOUNS[kind]} name={name} />;
  const nouns = rowsTitle.toLowerCase();
  const rows = (
    <QueryView query={query}>
      {(answer) => {
        const { data, pagination } = answer as { data: Row<K>[] | null } & Pick<Answer<K>, "pagination">;
        return data?.length ? (
          <>
            <DataTable
              label={rowsTitle}
              columns={page.columns}
              rows={data}
              rowKey={(row) => row.id}
              sort={samples.sort}
            />
            <Pager pagination={pagination} noun={nouns} question={question} />
          </>
        ) : (
          <NoData
            what={nouns}
            about={page.about}
            filtered={samples.isFiltered}
            onClear={() => patch({ tab: undefined, version: undefined })}
          />
        );
      }}
    </QueryView>
  );
  return (
    <>
      <PageHead
        title={name}
        mono={page.mono}
        sub={
          <>
            {page.sub}
            <SinceVersion kind={API_KINDS[kind]} name={name} />
            {since.change && <ChangeChip {...since.change} />}
          </>
        }
        actions={
          <>
            <AlertOnThis {...ALERTS[kind](name)} />
            <CompareSelect />
          </>
        }
      />
      <div className="space-y-4 px-4 pb-6">
        <QueryView query={all} skeleton={<SkeletonRows rows={2} />}>
          {(answer) => (
            <div>
              <Stats items={page.stats((since.answer ?? answer) as Answer<K>)} />
              {since.change && since.answer && <SinceNote card={since.change.card} />}
              <EstimatedNote of={[answer.stats as Counted]} className="mt-1.5" />
            </div>
          )}
        </QueryView>
        <ComparedNumbers kind={kind} name={name} />
        {kind !== "aiTrace" && (
          <SharedCursor>
            <div className="grid grid-cols-1 gap-4 xl:grid-cols-2">
              <DurationChart kind={kind} name={name} />
              <CallsChart kind={kind} name={name} title={kind === "task" ? "Runs" : "Calls"} split={search.split} />
            </div>
          </SharedCursor>
        )}
        <Latency entity={API_KINDS[kind]} name={name} search={search} />
        <WhereTime
          entity={API_KINDS[kind]}
          name={name}
          where={search.where}
          by={search.time}
          onBy={(time) => patch({ time, page: search.page })}
        />
        {all.data && page.more?.(all.data as Answer<K>)}
        <EntityIssues kind={kind} name={name} />
        <section aria-label={rowsTitle} className="panel overflow-x-auto">
          <div className="flex flex-wrap items-center gap-x-3 border-line border-b pr-2">
            <nav aria-label={`Which ${nouns}`} className="flex gap-1 overflow-x-auto px-2">
              {samples.tabs.map((one, place) => (
                <SearchLink
                  key={one.value}
                  change={{ tab: place ? one.value : undefined, sort: undefined, page: undefined }}
                  className={TAB}
                  current={one === samples.current}
                >
                  {one.label}
                </SearchLink>
              ))}
            </nav>
            <VersionSelect kind={kind} name={name} version={search.version} />
          </div>
          {rows}
        </section>
        <EntityLogs entity={API_KINDS[kind]} name={name} where={search.where} />
      </div>
    </>
  );
}

/** The kinds of samples of a page, and the request of the one in the URL. */
function useSamples<K extends EntityKind>({ kind, search, columns, first }: Props<K>) {
  // A stream is as long as its client listens.
  const slowest: Sample<string> = {
    value: "slowest",
    label: "Slowest",
    by: "duration",
    // Only streams have no duration.
    ...(kind === "endpoint" && { query: (median: number | null) => (median ? "stream:false" : ""), waits: true }),
  };
  const latest: Sample<string> = { value: "latest", label: "Latest", by: "recorded_at" };
  const tabs: Sample<string>[] = [
    ...(first ? [{ value: "first", ...first }] : []),
    slowest,
    latest,
    { value: "errors", label: "Errors", by: "recorded_at", query: () => "error:true" },
    { value: "typical", label: "Typical", by: "recorded_at", query: typicalQuery, waits: true },
  ];
  const current = tabs.find((one) => one.value === search.tab) ?? tabs[0];
  const by = current.by as RowOrder<K>;
  const { sort, body } = useListBody(search, columns, { by, desc: true } as Sort<RowOrder<K>>, ROWS_MAX);
  const ofVersion = search.version ? equals("version", search.version) : undefined;
  return {
    tabs,
    current,
    sort,
    body,
    isFiltered: (!!current.query && current.value !== "slowest") || !!search.version,
    queryOf: (median: number | null) => allOf(current.query?.(median), ofVersion),
  };
}

interface Sample<Order extends string> {
  value: string;
  label: string;
  by: Order;
  /** Condition that the samples meet. */
  query?: (medianMs: number | null) => string;
  /** Whether the condition needs the median. */
  waits?: boolean;
}

/** Within a tenth of the median. */
function typicalQuery(medianMs: number | null): string {
  if (!medianMs) return "";
  const ms = (factor: number) => `${(medianMs * factor).toFixed(6)}ms`;
  return `duration>=${ms(0.9)} duration<=${ms(1.1)}`;
}

function medianMs(answer: unknown): number | null {
  return (answer as { stats: { medianDuration: number } } | undefined)?.stats.medianDuration ?? null;
}

/** Selects the version of the samples; nothing when the range has one version at most. */
function VersionSelect({ kind, name, version }: { kind: EntityKind; name: string; version?: string }) {
  const { body } = useRange();
  const patch = usePatchSearch();
  const query = usePost("/api/query/complete", {
    ...body,
    rows: API_KINDS[kind],
    field: "version",
    query: equals("name", name),
  });
  const known = (query.data?.data ?? []).map((one) => one.text);
  const versions = version && !known.includes(version) ? [version, ...known] : known;
  if (versions.length < 2 && !version) return null;
  return (
    <Select
      label="Version"
      show
      value={version ?? ""}
      options={[{ value: "", label: "Every version" }, ...versions.map((one) => ({ value: one, label: one }))]}
      onChange={(value) => patch({ version: value || undefined })}
    />
  );
}

/** The form of a rule about an entity. */
const ALERTS = {
  endpoint: (name: string) => ({
    type: "endpoint_error_rate",
    config: { endpoint: name },
    name: `Errors of ${name}`,
  }),
  task: (name: string) => ({ type: "task_failure_rate", config: { taskName: name }, name: `Failures of ${name}` }),
  aiTrace: (name: string) => ({ type: "ai_trace_cost", config: { traceName: name }, name: `Cost of ${name}` }),
};
