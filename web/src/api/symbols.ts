// Uploaded debug files and source maps, what is missing, and stack traces tried out.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { say } from "../ui/Toasts";
import { request } from "./client";
import { useGet, useProjectId } from "./hooks";
import type { FileOrder, PostRoutes } from "./routes";
import type { FrameSource, Page, ResolvedTrace, SymbolFile } from "./types";

type Asked = PostRoutes["/api/symbols/resolve"]["body"];

/** Uploads come from build machines: looked for now and then while the page is open. */
const EVERY_MS = 20_000;

/** Which page of the uploaded files; undefined words are no condition. */
export interface FilesAsked {
  page: number;
  pageSize: number;
  search?: string;
  kind?: string;
  orderBy: FileOrder;
  sortDirection: "asc" | "desc";
}

export function useSymbolFiles(asked: FilesAsked) {
  const query = { ...asked, page: String(asked.page), pageSize: String(asked.pageSize) };
  return useGet("/api/symbols", { every: EVERY_MS, query });
}

export function useMissingSymbols(enabled = true) {
  return useGet("/api/symbols/missing", { every: EVERY_MS, enabled });
}

function resolve(projectId: string, body: Asked, signal?: AbortSignal): Promise<ResolvedTrace> {
  return request("POST", "/api/symbols/resolve", { query: { projectId }, body, signal });
}

/** The trace with what is uploaded by now; null asks nothing. */
export function useResolved(asked: Asked | null) {
  const projectId = useProjectId();
  return useQuery({
    queryKey: [projectId, "/api/symbols/resolve", asked],
    queryFn: ({ signal }) => resolve(projectId, asked ?? {}, signal),
    enabled: asked !== null,
    staleTime: 10_000,
  });
}

/** The source around the frames of a raw trace; null asks nothing. Nobody waits for it, and without it nothing is wrong. */
export function useSources(asked: Asked | null) {
  const projectId = useProjectId();
  return useQuery({
    queryKey: [projectId, "/api/symbols/sources", asked],
    queryFn: ({ signal }) =>
      request<{ frames: FrameSource[] }>("POST", "/api/symbols/sources", { query: { projectId }, body: asked, signal }),
    enabled: asked !== null,
    staleTime: 60_000,
  });
}

export function useTryTrace() {
  const projectId = useProjectId();
  return useMutation({ mutationFn: (body: Asked) => resolve(projectId, body) });
}

export function useRemoveSymbols() {
  const projectId = useProjectId();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ key }: SymbolFile) =>
      request<{ removed: boolean }>("DELETE", "/api/symbols", { query: { projectId, key } }),
    // Said here: with the last file the list and its dialog are gone.
    onSuccess: ({ removed }, { key, name }) => {
      say(removed ? `${name} is deleted` : `${name} was gone already`);
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
