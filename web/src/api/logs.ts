// Log records, loaded page by page while the user scrolls.
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import type { LogRow, Page } from "../model/types";
import { request } from "./client";
import { useGlobalFilter, withFilter } from "./global-filter";
import { useProjectId } from "./hooks";
import type { LogBody } from "./routes";

const PAGE = 100;

export function useLogs(body: LogBody, enabled = true) {
  const projectId = useProjectId();
  const query = withFilter(useGlobalFilter(), "/api/logs", { projectId });
  return useInfiniteQuery({
    queryKey: [projectId, "/api/logs", query, body],
    enabled,
    initialPageParam: 1,
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam, signal }) =>
      request<Page<LogRow>>("POST", "/api/logs", {
        query,
        body: { ...body, pagination: { page: pageParam, pageSize: PAGE } },
        signal,
      }),
    getNextPageParam: (last) =>
      last.pagination.page < last.pagination.totalPages ? last.pagination.page + 1 : undefined,
  });
}
