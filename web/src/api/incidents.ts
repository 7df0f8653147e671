// Incidents of the organization of the page's project, their updates and post-mortems.
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Incident, IncidentDetail, MarkdownNode, PostMortem, PostMortemRow } from "../model/types";
import { useProject } from "./account";
import { request } from "./client";

/** Number of the organization; 0 before it is known. */
export function useOrganizationId(): number {
  return useProject()?.organizationId ?? 0;
}

const path = (organization: number, rest: string) => `/api/organizations/${organization}/${rest}`;
const key = (organization: number) => ["organization", organization, "incidents"];

export function useIncidents(status: "open" | "resolved" | undefined, before: number | undefined) {
  const organization = useOrganizationId();
  return useQuery({
    queryKey: [...key(organization), status, before],
    queryFn: ({ signal }) =>
      request<{ incidents: Incident[]; next: number | null }>("GET", path(organization, "incidents"), {
        query: { status, before: before ? String(before) : undefined },
        signal,
      }),
    enabled: organization > 0,
    refetchInterval: 30_000,
    placeholderData: keepPreviousData,
  });
}

export function usePostMortems(enabled: boolean) {
  const organization = useOrganizationId();
  return useQuery({
    queryKey: [...key(organization), "post-mortems"],
    queryFn: ({ signal }) =>
      request<{ postMortems: PostMortemRow[] }>("GET", path(organization, "post-mortems"), { signal }),
    enabled: enabled && organization > 0,
  });
}

export function useIncident(id: string) {
  const organization = useOrganizationId();
  return useQuery({
    queryKey: [...key(organization), id],
    queryFn: ({ signal }) =>
      request<IncidentDetail>("GET", path(organization, `incidents/${encodeURIComponent(id)}`), { signal }),
    enabled: organization > 0,
    refetchInterval: 30_000,
  });
}

function useChange<Body, Answer>(send: (organization: number, body: Body) => Promise<Answer>) {
  const organization = useOrganizationId();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Body) => send(organization, body),
    onSettled: () => client.invalidateQueries({ queryKey: key(organization) }),
  });
}

export interface NewIncident {
  title: string;
  severity: string;
  message: string;
  projectId: string | null;
  statusPageIds: number[];
}

export function useOpenIncident() {
  return useChange((organization, body: NewIncident) =>
    request<{ id: number }>("POST", path(organization, "incidents"), { body }),
  );
}

export function useUpdateIncident(id: string) {
  return useChange((organization, body: { status: string; message: string }) =>
    request("POST", path(organization, `incidents/${encodeURIComponent(id)}/updates`), { body }),
  );
}

export function useChangeIncident(id: string) {
  return useChange((organization, body: { title?: string; severity?: string; statusPageIds?: number[] }) =>
    request("PUT", path(organization, `incidents/${encodeURIComponent(id)}`), { body }),
  );
}

export function useWritePostMortem(id: string) {
  return useChange((organization, body: { body: string; published: boolean }) =>
    request<PostMortem>("PUT", path(organization, `incidents/${encodeURIComponent(id)}/post-mortem`), { body }),
  );
}

export function useDeletePostMortem(id: string) {
  return useChange((organization, _: undefined) =>
    request("DELETE", path(organization, `incidents/${encodeURIComponent(id)}/post-mortem`)),
  );
}

/** Markdown as a tree, rendered by the server's parser. */
export function useMarkdown(body: string) {
  const organization = useOrganizationId();
  return useQuery({
    queryKey: ["markdown", organization, body],
    queryFn: ({ signal }) =>
      request<{ nodes: MarkdownNode[] }>("POST", path(organization, "post-mortems/preview"), {
        body: { body },
        signal,
      }),
    enabled: organization > 0,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
