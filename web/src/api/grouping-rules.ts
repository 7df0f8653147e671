// Grouping rules of the project. Each change loads the list again.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { GroupingRulePreview } from "../model/types";
import { request } from "./client";
import { useProjectId } from "./hooks";

const RULES = "/api/grouping-rules";

export interface RuleText {
  query: string;
  template: string;
  id?: number;
}

function useChange<V>(send: (projectId: string, value: V) => Promise<unknown>) {
  const projectId = useProjectId();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (value: V) => send(projectId, value),
    onSuccess: () =>
      client.invalidateQueries({
        predicate: ({ queryKey }) => queryKey[0] === projectId && String(queryKey[1]).startsWith(RULES),
      }),
  });
}

export function useSaveRule() {
  return useChange((projectId, { id, ...body }: RuleText) =>
    id === undefined
      ? request("POST", RULES, { query: { projectId }, body })
      : request("PUT", `${RULES}/${id}`, { query: { projectId }, body }),
  );
}

export function useDeleteRule() {
  return useChange((projectId, id: number) => request("DELETE", `${RULES}/${id}`, { query: { projectId } }));
}

export function useOrderRules() {
  return useChange((projectId, ids: number[]) =>
    request("PUT", `${RULES}/order`, { query: { projectId }, body: { ids } }),
  );
}

export function useApplyRules() {
  return useChange((projectId, _: undefined) => request("POST", `${RULES}/apply`, { query: { projectId } }));
}

export function usePreviewRule() {
  const projectId = useProjectId();
  return useMutation({
    mutationFn: (body: RuleText) =>
      request("POST", `${RULES}/preview`, { query: { projectId }, body }) as Promise<GroupingRulePreview>,
  });
}
