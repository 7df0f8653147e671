// The list page of a kind of entity: a chart, search and filters, and a sortable ranking of names.
import type { ReactNode } from "react";
import { ENTITIES, type EntityKind, type GroupOrder } from "../../api/entities";
import { usePost } from "../../api/hooks";
import type { PostRoutes } from "../../api/routes";
import { plural } from "../../model/format";
import type { Span } from "../../model/range";
import type { Sort } from "../../model/search";
import { type Column, DataTable } from "../../parts/DataTable";
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
  /** What is listed, after "Search" and in an empty list. */
  what: string;
  /** What the pager counts. */
  noun: string;
  /** Where rows come from, in an empty list. */
  about: string;
  /** Conditions besides the search, as the request says them. */
  body?: Partial<PostRoutes[(typeof ENTITIES)[K]["groups"]]["body"]>;
  /** Which of AI traces the chart counts. */
  calls?: "all" | "model" | "tool";
  /** The page's own filters, and what clears them. */
  filters?: ReactNode;
  cleared?: Record<string, undefined>;
  isFiltered?: boolean;
  /** Columns that are left out have nothing to say of what is filtered. */
  shows?: (column: string) => boolean;
}

export function EntityList<K extends EntityKind>(page: Props<K>) {
  const { kind, search, what } = page;
  const patch = usePatchSearch();
  const { span } = useRange();
  const columns = page.columns(span);
  const { sort, body } = useListBody(search, columns, page.fallback);
  // The columns take their orders from this kind's route, which the compiler cannot follow through `kind`.
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
