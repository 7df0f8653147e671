// Search text, order and page of a list, in the URL and in the request body.
import { useNavigate } from "@tanstack/react-router";
import { useRange } from "../api/range";
import { parseSort, type Sort } from "../model/search";

export const PAGE_SIZE = 50;

/** Sort orders of a table's columns. */
export function ordersOf<Order extends string>(columns: readonly { sort?: Order }[]): Order[] {
  return columns.flatMap((column) => column.sort ?? []);
}

interface ListUrl {
  q?: string;
  sort?: string;
  page?: number;
}

/** Request body of a list. The order is that of the URL if a column has it, otherwise `fallback`. */
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

/** Changes search parameters of the page and resets the list to page 1. */
export function usePatchSearch(): (change: Record<string, unknown>, replace?: boolean) => void {
  const navigate = useNavigate();
  return (change, replace = false) =>
    navigate({
      to: ".",
      search: (old: Record<string, unknown>) => ({ ...old, page: undefined, ...change }),
      replace,
    } as never);
}
