// Organizations: members, invitations, SSO, audit log, settings.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type {
  AuditPage,
  Member,
  OrganizationSettings,
  PendingInvitation,
  People,
  ProjectRole,
  Sso,
} from "./account-types";
import { download, request } from "./client";

const path = (id: number, rest: string) => `/api/organizations/${id}/${rest}`;
const member = (id: number, userId: number) => path(id, `members/${userId}`);

export function createOrganization(body: {
  name: string;
  timezone?: string;
}): Promise<People["organizations"][number]> {
  return request("POST", "/api/organizations", { body });
}

export const membersQuery = (id: number) =>
  queryOptions({
    queryKey: ["organization", id, "members"],
    queryFn: () => request<Member[]>("GET", path(id, "members")),
  });
export function changeRole(id: number, userId: number, role: string): Promise<unknown> {
  return request("PUT", member(id, userId), { body: { role } });
}
export function removeMember(id: number, userId: number): Promise<unknown> {
  return request("DELETE", member(id, userId));
}
export function changeProjectRoles(id: number, userId: number, projectRoles: ProjectRole[]): Promise<unknown> {
  return request("PUT", `${member(id, userId)}/project-roles`, { body: { projectRoles } });
}

export const invitationsQuery = (id: number) =>
  queryOptions({
    queryKey: ["organization", id, "invitations"],
    queryFn: () => request<PendingInvitation[]>("GET", path(id, "invitations")),
  });
/** `link`: the server has no mail server, so the inviter passes the link on. */
export function invite(id: number, body: { email: string; role: string }): Promise<{ message: string; link?: string }> {
  return request("POST", path(id, "invitations"), { body });
}
/** A new link of an open invitation. Earlier links end. */
export function newInvitationLink(id: number, invitation: PendingInvitation["id"]): Promise<{ link: string }> {
  return request("POST", path(id, `invitations/${encodeURIComponent(invitation)}/link`));
}
export function revokeInvitation(id: number, invitation: PendingInvitation["id"]): Promise<unknown> {
  return request("DELETE", path(id, `invitations/${encodeURIComponent(invitation)}`));
}

export const organizationQuery = (id: number) =>
  queryOptions({
    queryKey: ["organization", id, "settings"],
    queryFn: () => request<OrganizationSettings>("GET", path(id, "settings")),
  });
export function changeOrganization(id: number, body: Partial<OrganizationSettings>): Promise<OrganizationSettings> {
  return request("PUT", path(id, "settings"), { body });
}

export const ssoQuery = (id: number) =>
  queryOptions({ queryKey: ["organization", id, "sso"], queryFn: () => request<Sso>("GET", path(id, "sso")) });

export interface AuditFilter {
  before?: string;
  action?: string;
  userId?: string;
}
export const AUDIT_ROWS = 50;
export const auditQuery = (id: number, filter: AuditFilter) =>
  queryOptions({
    queryKey: ["organization", id, "audit", filter],
    queryFn: ({ signal }) =>
      request<AuditPage>("GET", path(id, "audit"), {
        query: { ...filter, accounts: "true", limit: String(AUDIT_ROWS) },
        signal,
      }),
    placeholderData: keepPreviousData,
  });
export function exportAudit(id: number, format: "csv" | "jsonl"): Promise<void> {
  return download(path(id, "audit/export"), { format }, `audit.${format}`);
}
