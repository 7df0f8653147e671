// Search text, sort and page of a list: from the URL, to the request body, and back.
import { useNavigate } from "@tanstack/react-router";
import { parseSort, type Sort } from "../model/search";
import { useRange } from "./range";

export const PAGE_SIZE = 50;

interface ListUrl {
  q?: string;
  sort?: string;
  page?: number;
}

export function useListBody<T extends string>(
  search: ListUrl,
  sorts: readonly T[],
  fallback: Sort<T>,
  pageSize = PAGE_SIZE,
) {
  const { body } = useRange();
  const sort = parseSort(search.sort, sorts, fallback);
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
