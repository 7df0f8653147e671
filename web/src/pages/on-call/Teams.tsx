import { useState } from "react";
import { useBundle } from "../../api/account";
import {
  type Person,
  type Team,
  useDelete,
  useMembers,
  useOncallOrganization,
  useSaveTeam,
  useTeams,
} from "../../api/oncall";
import { showToast } from "../../model/toasts";
import { Confirm } from "../../parts/Confirm";
import { type Column, DataTable } from "../../parts/DataTable";
import { Problem, Submit } from "../../parts/MutationButton";
import { Section } from "../../parts/Page";
import { Empty, QueryView } from "../../parts/states";
import { Dialog } from "../../ui/Dialog";
import { Field } from "../../ui/Field";

const personName = (person: Person) => person.name || person.email;

/** Teams: people who own projects. */
export function Teams() {
  const query = useTeams();
  const { isAdmin } = useOncallOrganization();
  const [edited, setEdited] = useState<Team | "new" | null>(null);
  const [deleted, setDeleted] = useState<Team | null>(null);
  const remove = useDelete("teams");
  const add = isAdmin && (
    <button type="button" className="btn" onClick={() => setEdited("new")}>
      New team
    </button>
  );
  return (
    <>
      <Section title="Teams" actions={add} flush>
        <QueryView query={query}>
          {({ teams }) =>
            teams.length ? (
              <DataTable
                label="Teams"
                columns={columns(isAdmin, setEdited, setDeleted)}
                rows={teams}
                rowKey={(row) => String(row.id)}
              />
            ) : (
              <Empty title="No teams yet">
                A team groups the people who answer for projects. Schedules belong to a team.
              </Empty>
            )
          }
        </QueryView>
      </Section>
      {edited && <TeamDialog team={edited === "new" ? null : edited} close={() => setEdited(null)} />}
      {deleted && (
        <Confirm
          open
          onOpenChange={(open) => !open && setDeleted(null)}
          title={`Delete ${deleted.name}?`}
          label="Delete the team"
          of={remove}
          onConfirm={() =>
            remove.mutate(deleted.id, {
              onSuccess: () => {
                setDeleted(null);
                showToast(`Team ${deleted.name} deleted`);
              },
            })
          }
        >
          <p>Its projects have no team afterwards.</p>
        </Confirm>
      )}
    </>
  );
}

function columns(isAdmin: boolean, edit: (team: Team) => void, remove: (team: Team) => void): Column<Team>[] {
  const all: Column<Team>[] = [
    {
      key: "name",
      head: "Team",
      card: "main",
      cell: (row) => (
        <>
          <div className="font-medium [overflow-wrap:anywhere]">{row.name}</div>
          {row.description && <div className="text-dense text-ink2 [overflow-wrap:anywhere]">{row.description}</div>}
        </>
      ),
    },
    {
      key: "members",
      head: "Members",
      className: "[overflow-wrap:anywhere]",
      cell: (row) => row.members.map(personName).join(", ") || "none",
    },
    {
      key: "projects",
      head: "Projects",
      className: "[overflow-wrap:anywhere]",
      cell: (row) => row.projects.map((project) => project.name).join(", ") || "none",
    },
    { key: "schedules", head: "Schedules", num: true, cell: (row) => row.scheduleCount },
  ];
  if (isAdmin)
    all.push({
      key: "actions",
      head: "",
      num: true,
      cell: (row) => (
        <span className="inline-flex flex-wrap justify-end gap-1">
          <button type="button" className="btn" aria-label={`Edit the team ${row.name}`} onClick={() => edit(row)}>
            Edit
          </button>
          <button type="button" className="btn" aria-label={`Delete the team ${row.name}`} onClick={() => remove(row)}>
            Delete
          </button>
        </span>
      ),
    });
  return all;
}

function TeamDialog({ team, close }: { team: Team | null; close: () => void }) {
  const { id: organization } = useOncallOrganization();
  const members = useMembers().data ?? [];
  const projects = useBundle()?.projects.filter((one) => one.organizationId === organization) ?? [];
  const [name, setName] = useState(team?.name ?? "");
  const [description, setDescription] = useState(team?.description ?? "");
  const [memberIds, setMembers] = useState(team?.members.map((one) => one.userId) ?? []);
  const [projectIds, setProjects] = useState(team?.projects.map((one) => one.projectId) ?? []);
  const save = useSaveTeam();
  return (
    <Dialog open onOpenChange={(open) => !open && close()} title={team ? `Edit ${team.name}` : "New team"}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          const body = { name, description, memberIds, projectIds };
          save.mutate({ id: team?.id, body }, { onSuccess: close });
        }}
      >
        <Field label="Name" value={name} onText={setName} required maxLength={100} />
        <Field label="Purpose" value={description} onText={setDescription} maxLength={1000} />
        <Checks
          label="Members"
          options={members.map((one) => ({ value: one.userId, label: personName(one) }))}
          chosen={memberIds}
          onChange={setMembers}
        />
        <Checks
          label="Projects"
          options={projects.map((one) => ({ value: one.id, label: one.name }))}
          chosen={projectIds}
          onChange={setProjects}
        />
        <Problem of={save} />
        <div className="flex flex-wrap justify-end gap-2">
          <button type="button" className="btn" onClick={close}>
            Cancel
          </button>
          <Submit of={save} busy="Saving…">
            Save
          </Submit>
        </div>
      </form>
    </Dialog>
  );
}

function Checks<T extends string | number>({
  label,
  options,
  chosen,
  onChange,
}: {
  label: string;
  options: { value: T; label: string }[];
  chosen: T[];
  onChange: (chosen: T[]) => void;
}) {
  return (
    <fieldset>
      <legend className="mb-1 font-medium">{label}</legend>
      <div className="max-h-40 space-y-1 overflow-y-auto rounded-control border border-line p-2">
        {options.map((option) => (
          <label key={option.value} className="flex items-center gap-2 [overflow-wrap:anywhere]">
            <input
              type="checkbox"
              checked={chosen.includes(option.value)}
              onChange={(event) =>
                onChange(
                  event.target.checked ? [...chosen, option.value] : chosen.filter((one) => one !== option.value),
                )
              }
            />
            {option.label}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
