// Display names of the roles.
import type { Role } from "./roles";

export const ROLE_WORDS: Record<Role, { label: string; means: string }> = {
  owner: { label: "Owner", means: "Everything, and the only one who names admins." },
  admin: { label: "Admin", means: "Members, invitations, audit log, and everything in every project." },
  user: { label: "User", means: "Reads and changes projects." },
  readonly: { label: "Read-only", means: "Reads. Sees no tokens." },
};
