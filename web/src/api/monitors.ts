// Monitors of the project. Changes load the list and the monitor again.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Check, CheckRequest, CheckResult } from "../model/types";
import { request } from "./client";
import { useProjectId } from "./hooks";

const CHECKS = "/api/synthetics/checks";

/** `reloads`: the routes that are loaded again, by the start of their paths. */
function useChange<Change, Answer>(
  send: (change: Change, projectId: string) => Promise<Answer>,
  reloads = "/api/synthetics",
) {
  const projectId = useProjectId();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: Change) => send(change, projectId),
    onSettled: () =>
      client.invalidateQueries({
        predicate: ({ queryKey }) => queryKey[0] === projectId && String(queryKey[1]).startsWith(reloads),
      }),
  });
}

/** Creates a monitor, or changes the one with this id. */
export function useSaveMonitor(id?: number) {
  return useChange((body: CheckRequest, projectId) =>
    id === undefined
      ? request<Check>("POST", CHECKS, { query: { projectId }, body })
      : request<Check>("PUT", `${CHECKS}/${id}`, { query: { projectId }, body }),
  );
}

export function usePauseMonitor(id: number) {
  return useChange((enabled: boolean, projectId) =>
    request<Check>("PUT", `${CHECKS}/${id}`, { query: { projectId }, body: { enabled } }),
  );
}

export function useDeleteMonitor(id: number) {
  // The queries of its page would find nothing.
  return useChange(
    (_: undefined, projectId) => request("DELETE", `${CHECKS}/${id}`, { query: { projectId } }),
    "/api/synthetics/overview",
  );
}

export function useRunMonitor(id: number) {
  return useChange((_: undefined, projectId) =>
    request<CheckResult>("POST", `${CHECKS}/${id}/run`, { query: { projectId } }),
  );
}

export function useReplaceToken(id: number) {
  return useChange((_: undefined, projectId) =>
    request<Check>("POST", `${CHECKS}/${id}/token`, { query: { projectId } }),
  );
}
