// Uploaded debug files and source maps, missing files, and trial resolution of stack traces.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { showToast } from "../model/toasts";
import type { FrameSource, Page, ResolvedTrace, SymbolFile } from "../model/types";
import { request } from "./client";
import { useGet, useProjectId } from "./hooks";
import type { FileOrder, PostRoutes } from "./routes";

type ResolveBody = PostRoutes["/api/symbols/resolve"]["body"];

/** Polling interval: build machines upload files while the page is open. */
const EVERY_MS = 20_000;

/** Selects a page of the uploaded files. Undefined fields do not filter. */
export interface FileFilter {
  page: number;
  pageSize: number;
  search?: string;
  kind?: string;
  orderBy: FileOrder;
  sortDirection: "asc" | "desc";
}

export function useSymbolFiles(filter: FileFilter) {
  const query = { ...filter, page: String(filter.page), pageSize: String(filter.pageSize) };
  return useGet("/api/symbols", { every: EVERY_MS, query });
}

export function useMissingSymbols(enabled = true) {
  return useGet("/api/symbols/missing", { every: EVERY_MS, enabled });
}

/** Counts of deleted files of old releases. */
export function useRemovedSymbols() {
  return useGet("/api/symbols/removed");
}

function resolve(projectId: string, body: ResolveBody, signal?: AbortSignal): Promise<ResolvedTrace> {
  return request("POST", "/api/symbols/resolve", { query: { projectId }, body, signal });
}

/** Resolves a trace with the files uploaded so far; null sends no request. */
export function useResolved(body: ResolveBody | null) {
  const projectId = useProjectId();
  return useQuery({
    queryKey: [projectId, "/api/symbols/resolve", body],
    queryFn: ({ signal }) => resolve(projectId, body ?? {}, signal),
    enabled: body !== null,
    staleTime: 10_000,
  });
}

/** Loads the source around the frames of a raw trace; null sends no request. Pages do not wait for it. */
export function useSources(body: ResolveBody | null) {
  const projectId = useProjectId();
  return useQuery({
    queryKey: [projectId, "/api/symbols/sources", body],
    queryFn: ({ signal }) =>
      request<{ frames: FrameSource[] }>("POST", "/api/symbols/sources", { query: { projectId }, body, signal }),
    enabled: body !== null,
    staleTime: 60_000,
  });
}

export function useTryTrace() {
  const projectId = useProjectId();
  return useMutation({ mutationFn: (body: ResolveBody) => resolve(projectId, body) });
}

export function useRemoveSymbols() {
  const projectId = useProjectId();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ key }: SymbolFile) =>
      request<{ removed: boolean }>("DELETE", "/api/symbols", { query: { projectId, key } }),
    // Reported here, because deleting the last file unmounts the list and its dialog.
    onSuccess: ({ removed }, { key, name }) => {
      showToast(removed ? `${name} is deleted` : `${name} was gone already`);
      client.setQueriesData<Page<SymbolFile>>(
        { queryKey: [projectId, "/api/symbols"], exact: false },
        (files) => files && { ...files, data: files.data.filter((file) => file.key !== key) },
      );
    },
    onSettled: () =>
      client.invalidateQueries({
        predicate: ({ queryKey }) => queryKey[0] === projectId && String(queryKey[1]).startsWith("/api/symbols"),
      }),
  });
}
