// Status pages of the organization of the page's project.
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Maintenance, PublicStatus, StatusCheckChoice, StatusPage, StatusPageRequest } from "../model/types";
import { request } from "./client";
import { useOrganizationId } from "./incidents";

const path = (organization: number, rest = "") => `/api/organizations/${organization}/status-pages${rest}`;
const key = (organization: number) => ["organization", organization, "status-pages"];

export function useStatusPages() {
  const organization = useOrganizationId();
  return useQuery({
    queryKey: key(organization),
    queryFn: ({ signal }) =>
      request<{ statusPages: StatusPage[]; checks: StatusCheckChoice[] }>("GET", path(organization), { signal }),
    enabled: organization > 0,
  });
}

/** Visitors' view of the page; `null`: nothing to show yet. */
export function usePreview(body: StatusPageRequest | null) {
  const organization = useOrganizationId();
  return useQuery({
    queryKey: [...key(organization), "preview", body],
    queryFn: ({ signal }) => request<PublicStatus>("POST", path(organization, "/preview"), { body, signal }),
    enabled: organization > 0 && body !== null,
    placeholderData: keepPreviousData,
    retry: false,
  });
}

function useChange<Body, Answer>(send: (organization: number, body: Body) => Promise<Answer>) {
  const organization = useOrganizationId();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Body) => send(organization, body),
    onSettled: () => client.invalidateQueries({ queryKey: key(organization), exact: true }),
  });
}

/** Creates a page, or replaces the settings of `id`. */
export function useSaveStatusPage(id: number | undefined) {
  return useChange((organization, body: StatusPageRequest) =>
    id
      ? request<StatusPage>("PUT", path(organization, `/${id}`), { body })
      : request<StatusPage>("POST", path(organization), { body }),
  );
}

export function useDeleteStatusPage() {
  return useChange((organization, id: number) => request("DELETE", path(organization, `/${id}`)));
}

/** A file, or `null` to remove the logo. */
export function useLogo(id: number) {
  return useChange((organization, file: File | null) =>
    file
      ? request<StatusPage>("POST", path(organization, `/${id}/logo`), { body: file })
      : request<StatusPage>("DELETE", path(organization, `/${id}/logo`)),
  );
}

export function usePlanMaintenance(id: number) {
  return useChange((organization, body: { title: string; description: string; startsAt: string; endsAt: string }) =>
    request<Maintenance>("POST", path(organization, `/${id}/maintenance`), { body }),
  );
}

export function useDeleteMaintenance(id: number) {
  return useChange((organization, window: number) =>
    request("DELETE", path(organization, `/${id}/maintenance/${window}`)),
  );
}
