// The list page of an entity kind: a chart, search and filters, and a sortable ranking of names.
import type { ReactNode } from "react";
import { ENTITIES, type EntityKind, type GroupOrder } from "../../api/entities";
import { usePost } from "../../api/hooks";
import { useRange } from "../../api/range";
import type { PostRoutes } from "../../api/routes";
import { plural } from "../../model/format";
import type { Span } from "../../model/range";
import type { Sort } from "../../model/search";
import type { ListSearch } from "../../model/telemetry-search";
import type { AiFlag, AiGrouping } from "../../model/types";
import { CompareSelect } from "../../parts/compare";
import { type Column, DataTable } from "../../parts/DataTable";
import { EstimatedNote } from "../../parts/Estimated";
import { useListBody, usePatchSearch } from "../../parts/listSearch";
import { NoData } from "../../parts/NoData";
import { Pager } from "../../parts/Pager";
import { QueryList } from "../../parts/QueryList";
import { OPEN_ROW, RowDrawer, useOpenRow } from "../../parts/RowDrawer";
import { QueryView } from "../../parts/states";
import { useCompared, withDeltas } from "./deltas";
import { EntityChart } from "./EntityChart";
import { EntityPageLink, EntitySummary } from "./EntitySummary";
import { useChangedNames, withOpenChanges } from "./openChanges";

const ROWS = { endpoint: "endpoint", task: "task", aiTrace: "ai_trace" } as const;
const EXAMPLES = {
  endpoint: "duration>200ms status>=500",
  task: "error:true service:mailer",
  aiTrace: "model:gpt-* cost>0.01",
};

type Answer<K extends EntityKind> = PostRoutes[(typeof ENTITIES)[K]["groups"]]["answer"];
type Row<K extends EntityKind> = Answer<K>["data"][number];

interface Props<K extends EntityKind> {
  kind: K;
  title: string;
  sub: string;
  search: ListSearch & { metric?: string };
  columns: (span: Span) => Column<Row<K>, GroupOrder<K>>[];
  fallback: Sort<GroupOrder<K>>;
  nameOf: (row: Row<K>) => string;
  /** Noun of the listed entities, used after "Search" and in an empty list. */
  what: string;
  /** Noun of the pager's count. */
  noun: string;
  /** Explains in an empty list what creates rows. */
  about: string;
  /** Further conditions of the request besides the search. */
  body?: Partial<PostRoutes[(typeof ENTITIES)[K]["groups"]]["body"]>;
  /** Selects the AI traces of the chart, and its lines. */
  chart?: { calls?: "all" | "model" | "tool"; groupBy?: AiGrouping; flags?: AiFlag[]; none?: string };
  /** The groups cannot be compared with another time: they are not names. */
  incomparable?: boolean;
  /** Filters of the page, and the search change that clears them. */
  filters?: ReactNode;
  cleared?: Record<string, undefined>;
  isFiltered?: boolean;
  /** Whether to show a column; some do not apply to the filtered rows. */
  shows?: (column: string) => boolean;
}

export function EntityList<K extends EntityKind>(page: Props<K>) {
  const { kind, search, what } = page;
  const patch = usePatchSearch();
  const { span } = useRange();
  const columns = page.columns(span);
  const { sort, body } = useListBody(search, columns, page.fallback);
  // The cast is sound: the columns' orders come from this kind's route, which tsc cannot infer from `kind`.
  const query = search.q ?? "";
  const request = { ...body, search: "", query, ...page.body } as object;
  const list = usePost(ENTITIES[kind].groups, request);
  const { data: rows } = (list.data ?? {}) as { data?: Row<K>[] | null };
  const names = page.incomparable ? [] : (rows ?? []).map(page.nameOf);
  const compared = useCompared(kind, names, query);
  const changed = useChangedNames<Row<K>>(kind, names, query, page.body);
  const sel = useOpenRow();
  return (
    <QueryList
      title={page.title}
      sub={page.sub}
      rows={ROWS[kind]}
      what={what}
      placeholder={`Words of the name, or ${EXAMPLES[kind]}`}
      query={query}
      isRead={!list.isPending}
      error={list.error}
      chart={
        <EntityChart
          kind={kind}
          {...page.chart}
          metric={search.metric}
          query={query}
          onMetric={(metric) => patch({ metric, page: search.page }, true)}
        />
      }
      filters={
        <>
          {page.filters}
          {!page.incomparable && <CompareSelect />}
        </>
      }
    >
      <QueryView query={list}>
        {(answer) => {
          const { data, pagination } = answer as { data: Row<K>[] | null } & Pick<Answer<K>, "pagination">;
          const shown = page.shows ? columns.filter((column) => page.shows?.(column.key)) : columns;
          return data?.length ? (
            <>
              <DataTable
                label={`${page.title}, ${plural(pagination.total, "name")}`}
                columns={
                  compared && !page.incomparable
                    ? withDeltas(shown, compared, page.nameOf)
                    : withOpenChanges(kind, shown, changed, page.nameOf)
                }
                rows={data}
                rowKey={page.nameOf}
                sort={sort}
                rowClass={(row) => (page.nameOf(row) === sel ? OPEN_ROW : "")}
              />
              <EstimatedNote of={data} className="border-line border-t px-3 py-2" />
              {!page.incomparable && (
                <RowDrawer
                  rows={data}
                  rowKey={page.nameOf}
                  what={kind === "aiTrace" ? "AI trace" : kind}
                  title={page.nameOf}
                  page={(row) => <EntityPageLink kind={kind} name={page.nameOf(row)} />}
                >
                  {(row) => <EntitySummary kind={kind} name={page.nameOf(row)} query={query} />}
                </RowDrawer>
              )}
              <Pager
                pagination={pagination}
                noun={page.noun}
                question={{ route: ENTITIES[kind].groups, body: request }}
              />
            </>
          ) : (
            <NoData
              what={what}
              about={page.about}
              filtered={!!search.q || !!page.isFiltered}
              onClear={() => patch({ q: undefined, ...page.cleared })}
            />
          );
        }}
      </QueryView>
    </QueryList>
  );
}
