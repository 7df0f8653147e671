// Project setup by a program: setup tokens, and drafts that wait for a decision.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { bundleQuery } from "./account";
import type { ProjectExtra } from "./account-types";
import { request } from "./client";

export interface SetupToken {
  id: number;
  token: string;
  backendUrl: string;
  expiresAt: string;
}
export interface PlannedProject {
  name: string;
  framework: string;
}
export interface SetupDraft {
  id: number;
  organizationId: number;
  expiresAt: string;
  projects: PlannedProject[];
}

export function makeSetupToken(organizationId: number): Promise<SetupToken> {
  return request("POST", "/api/setup-tokens", { body: { organizationId } });
}

/** Polled every three seconds. */
export const draftsQuery = queryOptions({
  queryKey: ["setup-drafts"],
  queryFn: () => request<SetupDraft[]>("GET", "/api/setup/drafts"),
  refetchInterval: 3000,
});

/** Approves a draft with the projects that were shown, or rejects it. */
export function useAnswerDraft() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ draft, yes }: { draft: SetupDraft; yes: boolean }) =>
      yes
        ? request<ProjectExtra[]>("POST", `/api/setup/drafts/${draft.id}`, { body: { projects: draft.projects } })
        : request("DELETE", `/api/setup/drafts/${draft.id}`),
    onSettled: () => {
      client.invalidateQueries({ queryKey: draftsQuery.queryKey });
      client.invalidateQueries({ queryKey: bundleQuery.queryKey });
    },
  });
}
