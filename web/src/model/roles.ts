// Who may do what (WIRE 5.3). The server decides; the pages only leave out what it would refuse.

export const ROLES = ["owner", "admin", "user", "readonly"] as const;
export type Role = (typeof ROLES)[number];

const RANK: Record<Role, number> = { owner: 3, admin: 2, user: 1, readonly: 0 };

/** A role the UI does not know counts as the least. */
export function asRole(text: string | null | undefined): Role {
  return ROLES.find((role) => role === text) ?? "readonly";
}

/** Owner and admin: members, invitations, SSO, audit log, settings of the organisation. */
export function mayManage(role: Role): boolean {
  return RANK[role] >= RANK.admin;
}

export function mayWrite(role: Role): boolean {
  return RANK[role] >= RANK.user;
}

/** A new project needs an organisation that one may write in. */
export function mayCreateProject(organizations: { role: string }[] | undefined): boolean {
  return !!organizations?.some((one) => mayWrite(asRole(one.role)));
}

/** Roles that `mine` may invite with: only an owner names admins; nobody becomes owner. */
export function rolesToInvite(mine: Role): Role[] {
  if (!mayManage(mine)) return [];
  return mine === "owner" ? ["admin", "user", "readonly"] : ["user", "readonly"];
}

/** Roles that `mine` may give to a member of role `theirs`; empty: not offered. Nobody changes themselves or an owner. */
export function rolesToGive(mine: Role, theirs: Role, myself: boolean): Role[] {
  if (myself || theirs === "owner" || !mayManage(mine)) return [];
  if (mine === "admin" && theirs === "admin") return [];
  return rolesToInvite(mine);
}

export function mayRemove(mine: Role, theirs: Role, myself: boolean): boolean {
  return !myself && rolesToGive(mine, theirs, false).length > 0;
}

/** Everyone may leave but the owner: the organisation would have nobody. */
export function mayLeave(mine: Role): boolean {
  return mine !== "owner";
}

/** A role per project narrows or widens only what users and read-only members have. */
export function mayOverride(mine: Role, theirs: Role, myself: boolean): boolean {
  return mayManage(mine) && !myself && (theirs === "user" || theirs === "readonly");
}
