// Search text, sort and page of a list: from the URL, to the request body, and back.
import { useNavigate } from "@tanstack/react-router";
import { parseSort, type Sort } from "../model/search";
import { useRange } from "./range";

export const PAGE_SIZE = 50;

/** What the columns of a table can be sorted by. */
export function ordersOf<Order extends string>(columns: readonly { sort?: Order }[]): Order[] {
  return columns.flatMap((column) => column.sort ?? []);
}

interface ListUrl {
  q?: string;
  sort?: string;
  page?: number;
}

/** The list can be sorted by its columns, and is by `fallback` until it is asked for. */
export function useListBody<Order extends string>(
  search: ListUrl,
  columns: readonly { sort?: Order }[],
  fallback: Sort<NoInfer<Order>>,
  pageSize = PAGE_SIZE,
) {
  const { body } = useRange();
  const sort = parseSort<Order>(search.sort, ordersOf(columns), fallback);
  return {
    sort,
    body: {
      ...body,
      orderBy: sort.by,
      sortDirection: sort.desc ? ("desc" as const) : ("asc" as const),
      search: search.q ?? "",
      pagination: { page: search.page ?? 1, pageSize },
    },
  };
}

/** Changes part of the page's search; the list starts again at page 1. */
export function usePatchSearch(): (change: Record<string, unknown>, replace?: boolean) => void {
  const navigate = useNavigate();
  return (change, replace = false) =>
    navigate({
      to: ".",
      search: (old: Record<string, unknown>) => ({ ...old, page: undefined, ...change }),
      replace,
    } as never);
}
