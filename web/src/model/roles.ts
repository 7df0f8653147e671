// Permissions of the roles (WIRE 5.3). The server enforces them; the pages only hide actions that it would refuse.

export const ROLES = ["owner", "admin", "user", "readonly"] as const;
export type Role = (typeof ROLES)[number];

const RANK: Record<Role, number> = { owner: 3, admin: 2, user: 1, readonly: 0 };

/** Unknown roles are treated as the lowest. */
export function asRole(text: string | null | undefined): Role {
  return ROLES.find((role) => role === text) ?? "readonly";
}

/** Owners and admins manage members, invitations, SSO, the audit log and the organization's settings. */
export function mayManage(role: Role): boolean {
  return RANK[role] >= RANK.admin;
}

export function mayWrite(role: Role): boolean {
  return RANK[role] >= RANK.user;
}

/** Creating a project requires write access to an organization. */
export function mayCreateProject(organizations: { role: string }[] | undefined): boolean {
  return !!organizations?.some((one) => mayWrite(asRole(one.role)));
}

/** Roles that a member of role `mine` may invite with. Only an owner may invite admins. */
export function rolesToInvite(mine: Role): Role[] {
  if (!mayManage(mine)) return [];
  return mine === "owner" ? ["admin", "user", "readonly"] : ["user", "readonly"];
}

/** Roles that `mine` may assign to a member of role `theirs`. Empty for owners and for the user's own role. */
export function rolesToGive(mine: Role, theirs: Role, myself: boolean): Role[] {
  if (myself || theirs === "owner" || !mayManage(mine)) return [];
  if (mine === "admin" && theirs === "admin") return [];
  return rolesToInvite(mine);
}

export function mayRemove(mine: Role, theirs: Role, myself: boolean): boolean {
  return !myself && rolesToGive(mine, theirs, false).length > 0;
}

/** Every member except the owner may leave. */
export function mayLeave(mine: Role): boolean {
  return mine !== "owner";
}

/** Project roles override the role of users and read-only members only. */
export function mayOverride(mine: Role, theirs: Role, myself: boolean): boolean {
  return mayManage(mine) && !myself && (theirs === "user" || theirs === "readonly");
}
