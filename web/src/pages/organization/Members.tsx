import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { bundleQuery, useBundle } from "../../api/account";
import { changeRole, membersQuery, removeMember } from "../../api/account-organization";
import type { Member, Organization } from "../../api/account-types";
import { plural } from "../../model/format";
import { ROLE_WORDS } from "../../model/role-words";
import { asRole, mayLeave, mayOverride, mayRemove, ROLES, rolesToGive } from "../../model/roles";
import { showToast } from "../../model/toasts";
import { Ago } from "../../parts/Ago";
import { Confirm } from "../../parts/Confirm";
import { type Column, DataTable } from "../../parts/DataTable";
import { MutationButton, Problem } from "../../parts/MutationButton";
import { Section } from "../../parts/Page";
import { QueryView } from "../../parts/states";
import { Chip } from "../../ui/Chip";
import { Select } from "../../ui/Select";
import { ProjectRoles } from "./ProjectRoles";

export function Members({ organization }: { organization: Organization }) {
  const list = useQuery(membersQuery(organization.id));
  const myself = useBundle()?.user.id;
  const router = useRouter();
  const client = useQueryClient();
  const [ending, setEnding] = useState<Member | null>(null);
  const [overriding, setOverriding] = useState<Member | null>(null);
  const refresh = () => client.invalidateQueries({ queryKey: membersQuery(organization.id).queryKey });
  const role = useMutation({
    mutationFn: ({ member, to }: { member: Member; to: string }) => changeRole(organization.id, member.userId, to),
    onSuccess: (_, { member, to }) =>
      showToast(`${member.name || member.email} is now ${ROLE_WORDS[asRole(to)].label}`),
    onSettled: refresh,
  });
  const remove = useMutation({
    mutationFn: (member: Member) => removeMember(organization.id, member.userId),
    onSuccess: (_, member) => {
      setEnding(null);
      if (member.userId === myself) {
        client.removeQueries({ queryKey: bundleQuery.queryKey });
        showToast(`You have left ${organization.name}`);
        router.history.push("/");
        return;
      }
      refresh();
      showToast(`${member.name || member.email} is removed`);
    },
  });
  const leaving = ending?.userId === myself;
  return (
    <>
      <Section title="Members" flush>
        <QueryView query={list}>
          {(rows) => (
            <DataTable
              label="Members"
              rows={rows}
              rowKey={(row) => String(row.userId)}
              columns={columns({
                organization,
                myself,
                role,
                remove,
                onRole: (member, to) => role.mutate({ member, to }),
                onEnd: setEnding,
                onProjects: setOverriding,
              })}
            />
          )}
        </QueryView>
      </Section>
      <Problem of={role} />
      <RoleHelp />
      {overriding && <ProjectRoles organization={organization} member={overriding} close={() => setOverriding(null)} />}
      {ending && (
        <Confirm
          open
          onOpenChange={(open) => !open && setEnding(null)}
          title={leaving ? `Leave ${organization.name}?` : `Remove ${ending.name || ending.email}?`}
          label={leaving ? "Leave" : "Remove from the organization"}
          of={remove}
          onConfirm={() => remove.mutate(ending)}
        >
          <p>
            {leaving
              ? "You lose its projects at once. Coming back takes a new invitation."
              : "They lose its projects at once. Their account stays; coming back takes a new invitation."}
          </p>
        </Confirm>
      )}
    </>
  );
}

interface MutationState {
  isPending: boolean;
  error: Error | null;
}
interface Ways {
  organization: Organization;
  myself: number | undefined;
  role: MutationState;
  remove: MutationState;
  onRole: (member: Member, to: string) => void;
  onEnd: (member: Member) => void;
  onProjects: (member: Member) => void;
}

function columns({ organization, myself, role, remove, onRole, onEnd, onProjects }: Ways): Column<Member>[] {
  const mine = organization.role;
  return [
    {
      key: "who",
      head: "Who",
      card: "main",
      cell: (row) => (
        <>
          <div className="font-medium [overflow-wrap:anywhere]">
            {row.name || row.email} {row.userId === myself && <Chip>you</Chip>}
          </div>
          {row.name && <div className="text-dense text-ink2 [overflow-wrap:anywhere]">{row.email}</div>}
        </>
      ),
    },
    {
      key: "role",
      head: "Role",
      cell: (row) => {
        const theirs = asRole(row.role);
        const offered = rolesToGive(mine, theirs, row.userId === myself);
        if (!offered.length) return ROLE_WORDS[theirs].label;
        return (
          <Select
            label={`Role of ${row.name || row.email}`}
            value={theirs}
            disabled={role.isPending}
            options={ROLES.filter((one) => one === theirs || offered.includes(one)).map((one) => ({
              value: one,
              label: ROLE_WORDS[one].label,
            }))}
            onChange={(to) => onRole(row, to)}
          />
        );
      },
    },
    {
      key: "two-factor",
      head: "Second step",
      help: "Whether signing in asks for more than the password.",
      cell: (row) => (row.twoFactor ? <Chip tone="ok">on</Chip> : <span className="text-ink2">off</span>),
    },
    { key: "joined", head: "Joined", cell: (row) => <Ago at={row.joinedAt} /> },
    {
      key: "projects",
      head: "Projects",
      help: "Roles of its own that somebody has in single projects.",
      cell: (row) => {
        const own = row.projectRoles?.length ?? 0;
        if (!mayOverride(mine, asRole(row.role), row.userId === myself))
          return own ? (
            plural(own, "role of its own", "roles of their own")
          ) : (
            <span className="text-ink2">as the role</span>
          );
        return (
          <button type="button" className="btn" onClick={() => onProjects(row)}>
            {own ? plural(own, "exception") : "As the role"}
            <span className="sr-only">: {row.name || row.email} in projects</span>
          </button>
        );
      },
    },
    {
      key: "end",
      head: "",
      num: true,
      cell: (row) => {
        const me = row.userId === myself;
        if (me ? !mayLeave(mine) : !mayRemove(mine, asRole(row.role), false)) return null;
        return (
          <MutationButton
            of={remove}
            onClick={() => onEnd(row)}
            aria-label={me ? undefined : `Remove ${row.name || row.email}`}
          >
            {me ? "Leave" : "Remove"}
          </MutationButton>
        );
      },
    },
  ];
}

function RoleHelp() {
  return (
    <details className="text-ink2">
      <summary>What the roles may do</summary>
      <dl className="mt-2 grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        {ROLES.map((role) => (
          <div key={role} className="contents">
            <dt className="font-medium text-ink">{ROLE_WORDS[role].label}</dt>
            <dd>{ROLE_WORDS[role].means}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
