// The list page of an entity kind: a chart, search and filters, and a sortable ranking of names.
import type { ReactNode } from "react";
import { ENTITIES, type EntityKind, type GroupOrder } from "../../api/entities";
import { usePost } from "../../api/hooks";
import type { PostRoutes } from "../../api/routes";
import { plural } from "../../model/format";
import type { Span } from "../../model/range";
import type { Sort } from "../../model/search";
import { type Column, DataTable } from "../../parts/DataTable";
import { EstimatedNote } from "../../parts/Estimated";
import { useListBody, usePatchSearch } from "../../parts/listSearch";
import { NoData } from "../../parts/NoData";
import { PageHead, Toolbar } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { useRange } from "../../parts/range";
import { QueryView } from "../../parts/states";
import type { ListSearch } from "../../router";
import { SearchBox } from "../../ui/SearchBox";
import { EntityChart } from "./EntityChart";

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
  /** Selects the AI traces of the chart. */
  calls?: "all" | "model" | "tool";
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
  const list = usePost(ENTITIES[kind].groups, { ...body, ...page.body } as object);
  return (
    <>
      <PageHead title={page.title} sub={page.sub} />
      <div className="px-4 pb-4">
        <EntityChart
          kind={kind}
          calls={page.calls}
          metric={search.metric}
          onMetric={(metric) => patch({ metric, page: search.page }, true)}
        />
      </div>
      <Toolbar>
        <SearchBox
          label={`Search ${what}`}
          placeholder="Search by name"
          value={search.q ?? ""}
          onSearch={(q) => patch({ q: q || undefined }, true)}
        />
        {page.filters}
      </Toolbar>
      <div className="panel mx-4 mb-6 overflow-x-auto">
        <QueryView query={list}>
          {(answer) => {
            const { data, pagination } = answer as { data: Row<K>[] | null } & Pick<Answer<K>, "pagination">;
            return data?.length ? (
              <>
                <DataTable
                  label={`${page.title}, ${plural(pagination.total, "name")}`}
                  columns={page.shows ? columns.filter((column) => page.shows?.(column.key)) : columns}
                  rows={data}
                  rowKey={page.nameOf}
                  sort={sort}
                />
                <EstimatedNote of={data} className="border-line border-t px-3 py-2" />
                <Pager pagination={pagination} noun={page.noun} />
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
      </div>
    </>
  );
}
