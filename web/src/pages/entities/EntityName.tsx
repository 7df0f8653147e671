// The page of one entity: statistics, charts and single rows.
import type { ReactNode } from "react";
import { ApiError } from "../../api/client";
import { ENTITIES, type EntityKind, type RowOrder } from "../../api/entities";
import { usePost } from "../../api/hooks";
import type { PostRoutes } from "../../api/routes";
import type { Counted } from "../../model/estimate";
import type { Sort } from "../../model/search";
import { CompareSelect } from "../../parts/compare";
import { type Column, DataTable } from "../../parts/DataTable";
import { EstimatedNote } from "../../parts/Estimated";
import { useListBody } from "../../parts/listSearch";
import { NeverSeen } from "../../parts/NeverSeen";
import { NoData } from "../../parts/NoData";
import { PageHead, Section, type StatItem, Stats } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { SinceVersion } from "../../parts/SinceVersion";
import { QueryView, SkeletonRows } from "../../parts/states";
import type { NameSearch } from "../../router";
import { SearchLink } from "../../ui/SearchLink";
import { TAB } from "../../ui/Tabs";
import { SharedCursor } from "../../viz/cursor";
import { Latency } from "../explain/Latency";
import { CallsChart } from "./CallsChart";
import { DurationChart } from "./DurationChart";
import { ComparedNumbers } from "./deltas";

type Answer<K extends EntityKind> = PostRoutes[(typeof ENTITIES)[K]["rows"]]["answer"];
type Row<K extends EntityKind> = Answer<K>["data"][number];

const ENTITY_NOUNS = { endpoint: "endpoint", task: "task", aiTrace: "AI trace" } as const;
/** Kinds as `/api/explain` and `/api/first-version` name them. */
const API_KINDS = { endpoint: "endpoint", task: "task", aiTrace: "ai_trace" } as const;
const ROWS_MAX = 25;

/** A tab above the rows that selects their order. */
interface Tab<Order extends string> {
  value: string;
  label: string;
  by: Order;
}

interface Props<K extends EntityKind> {
  kind: K;
  name: string;
  search: NameSearch & { tab?: string };
  mono?: boolean;
  sub?: ReactNode;
  columns: Column<Row<K>, RowOrder<K>>[];
  /** Default order of the rows. With tabs, the order of the chosen tab, else of the first. */
  fallback: RowOrder<K> | readonly Tab<RowOrder<K>>[];
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
  const tabs = typeof page.fallback === "string" ? [] : (page.fallback as readonly Tab<RowOrder<K>>[]);
  const tab = tabs.find((one) => one.value === search.tab) ?? tabs[0];
  const by = tab ? tab.by : (page.fallback as RowOrder<K>);
  const { sort, body } = useListBody(search, page.columns, { by, desc: true } as Sort<RowOrder<K>>, ROWS_MAX);
  // The cast is sound: the columns' orders come from this kind's route, which tsc cannot infer from `kind`.
  const question = {
    route: ENTITIES[kind].rows,
    query: { [ENTITIES[kind].field]: name },
    body: { ...body, query: search.where } as object,
  };
  const query = usePost(question.route, question.body, { query: question.query });
  if (query.error instanceof ApiError && query.error.status === 404)
    return <NeverSeen what={ENTITY_NOUNS[kind]} name={name} />;
  const nouns = rowsTitle.toLowerCase();
  const rows = (
    <QueryView query={query}>
      {(answer) => {
        const { data, pagination } = answer as { data: Row<K>[] | null } & Pick<Answer<K>, "pagination">;
        return data?.length ? (
          <>
            <DataTable label={rowsTitle} columns={page.columns} rows={data} rowKey={(row) => row.id} sort={sort} />
            <Pager pagination={pagination} noun={nouns} question={question} />
          </>
        ) : (
          <NoData what={nouns} about={page.about} />
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
          </>
        }
        actions={<CompareSelect />}
      />
      <div className="space-y-4 px-4 pb-6">
        <QueryView query={query} skeleton={<SkeletonRows rows={2} />}>
          {(answer) => (
            <div>
              <Stats items={page.stats(answer as Answer<K>)} />
              <EstimatedNote of={[answer.stats as Counted]} className="mt-1.5" />
            </div>
          )}
        </QueryView>
        <ComparedNumbers kind={kind} name={name} />
        {kind !== "aiTrace" && (
          <SharedCursor>
            <div className="grid gap-4 xl:grid-cols-2">
              <DurationChart kind={kind} name={name} />
              <CallsChart kind={kind} name={name} title={kind === "task" ? "Runs" : "Calls"} split={search.split} />
            </div>
          </SharedCursor>
        )}
        <Latency entity={API_KINDS[kind]} name={name} search={search} />
        {query.data && page.more?.(query.data as Answer<K>)}
        {tabs.length ? (
          <section aria-label={rowsTitle} className="panel overflow-x-auto">
            <nav aria-label={`Which ${nouns}`} className="flex gap-1 border-line border-b px-2">
              {tabs.map((one) => (
                <SearchLink
                  key={one.value}
                  change={{ tab: one === tabs[0] ? undefined : one.value, sort: undefined, page: undefined }}
                  className={TAB}
                  current={one === tab}
                >
                  {one.label}
                </SearchLink>
              ))}
            </nav>
            {rows}
          </section>
        ) : (
          <Section title={rowsTitle} flush>
            {rows}
          </Section>
        )}
      </div>
    </>
  );
}
