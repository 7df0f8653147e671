import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useBundle } from "../../api/account";
import { changeProjectRoles, membersQuery } from "../../api/account-organization";
import type { Member, Organization, ProjectRole } from "../../api/account-types";
import { ROLE_WORDS } from "../../model/role-words";
import { asRole } from "../../model/roles";
import { showToast } from "../../model/toasts";
import { Problem, Submit } from "../../parts/MutationButton";
import { Dialog } from "../../ui/Dialog";
import { Select } from "../../ui/Select";

/** Overrides of the organization role per project. */
export function ProjectRoles({
  organization,
  member,
  close,
}: {
  organization: Organization;
  member: Member;
  close: () => void;
}) {
  const projects = (useBundle()?.projects ?? []).filter((one) => one.organizationId === organization.id);
  const [roles, setRoles] = useState<Record<string, string>>(() =>
    Object.fromEntries((member.projectRoles ?? []).map((one) => [one.projectId, one.role])),
  );
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: () =>
      changeProjectRoles(
        organization.id,
        member.userId,
        Object.entries(roles)
          .filter(([, role]) => role !== "")
          .map(([projectId, role]) => ({ projectId, role }) as ProjectRole),
      ),
    onSuccess: () => {
      close();
      client.invalidateQueries({ queryKey: membersQuery(organization.id).queryKey });
      showToast("Roles in projects saved");
    },
  });
  const usual = ROLE_WORDS[asRole(member.role)].label;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title={`${member.name || member.email} in projects`}
      description={`Without a role of its own, a project follows the organization: ${usual.toLowerCase()}.`}
    >
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        {projects.length === 0 && <p>The organization has no projects yet.</p>}
        <ul className="divide-y divide-line">
          {projects.map((project) => (
            <li key={project.id} className="flex items-center justify-between gap-3 py-1.5">
              <span className="min-w-0 truncate" title={project.name}>
                {project.name}
              </span>
              <Select
                label={`Role in ${project.name}`}
                value={roles[project.id] ?? ""}
                options={[
                  { value: "", label: `As the role (${usual.toLowerCase()})` },
                  { value: "user", label: ROLE_WORDS.user.label },
                  { value: "readonly", label: ROLE_WORDS.readonly.label },
                ]}
                onChange={(role) => setRoles((old) => ({ ...old, [project.id]: role }))}
              />
            </li>
          ))}
        </ul>
        <Problem of={save} />
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={close}>
            Cancel
          </button>
          <Submit of={save}>Save</Submit>
        </div>
      </form>
    </Dialog>
  );
}
