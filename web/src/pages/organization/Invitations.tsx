import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { invitationsQuery, invite, revokeInvitation } from "../../api/account-organization";
import type { Organization, PendingInvitation } from "../../api/account-types";
import { ROLE_WORDS } from "../../model/role-words";
import { asRole, rolesToInvite } from "../../model/roles";
import { showToast } from "../../model/toasts";
import { Ago } from "../../parts/Ago";
import { DataTable } from "../../parts/DataTable";
import { ExpiryLabel } from "../../parts/ExpiryLabel";
import { MutationButton, Problem, Submit } from "../../parts/MutationButton";
import { Section } from "../../parts/Page";
import { Empty, QueryView } from "../../parts/states";
import { Field } from "../../ui/Field";
import { SelectField } from "../../ui/SelectField";

export function Invitations({ organization }: { organization: Organization }) {
  const list = useQuery(invitationsQuery(organization.id));
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: invitationsQuery(organization.id).queryKey });
  const revoke = useMutation({
    mutationFn: (one: PendingInvitation) => revokeInvitation(organization.id, one.id),
    onSuccess: (_, one) => showToast(`The invitation of ${one.email} is taken back`),
    onSettled: refresh,
  });
  return (
    <>
      <Section title="Invite somebody">
        <Invite organization={organization} onSent={refresh} />
      </Section>
      <Section title="Waiting for an answer" flush>
        <QueryView query={list}>
          {(rows) =>
            rows.length ? (
              <DataTable
                label="Pending invitations"
                rows={rows}
                rowKey={(row) => String(row.id)}
                columns={[
                  {
                    key: "email",
                    head: "E-mail",
                    card: "main",
                    cell: (row) => <span className="font-medium [overflow-wrap:anywhere]">{row.email}</span>,
                  },
                  { key: "role", head: "Role", cell: (row) => ROLE_WORDS[asRole(row.role)].label },
                  { key: "by", head: "Invited by", cell: (row) => row.inviterName },
                  { key: "sent", head: "Sent", cell: (row) => <Ago at={row.createdAt} /> },
                  { key: "ends", head: "Ends", cell: (row) => <ExpiryLabel at={row.expiresAt} /> },
                  {
                    key: "revoke",
                    head: "",
                    num: true,
                    cell: (row) => (
                      <MutationButton
                        of={revoke}
                        aria-label={`Take back the invitation of ${row.email}`}
                        onClick={() => revoke.mutate(row)}
                      >
                        Take back
                      </MutationButton>
                    ),
                  },
                ]}
              />
            ) : (
              <Empty title="No open invitations">Invitations wait here until they are accepted, for seven days.</Empty>
            )
          }
        </QueryView>
      </Section>
      <Problem of={revoke} />
    </>
  );
}

function Invite({ organization, onSent }: { organization: Organization; onSent: () => void }) {
  const offered = rolesToInvite(organization.role);
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<string>("user");
  const send = useMutation({
    mutationFn: () => invite(organization.id, { email: email.trim(), role }),
    onSuccess: () => {
      showToast(`Invitation sent to ${email.trim()}`);
      setEmail("");
      onSent();
    },
  });
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        send.mutate();
      }}
    >
      <div className="grid items-end gap-3 sm:grid-cols-[minmax(0,1fr)_160px_auto]">
        <Field label="E-mail" type="email" required autoComplete="off" value={email} onText={setEmail} />
        <SelectField
          label="Role"
          value={role}
          options={offered.map((one) => ({ value: one, label: ROLE_WORDS[one].label }))}
          onChange={setRole}
        />
        <Submit of={send} busy="Sending…">
          Invite
        </Submit>
      </div>
      <p className="text-dense text-ink2">
        {ROLE_WORDS[asRole(role)].means} The link in the e-mail works for seven days.
      </p>
      <Problem of={send} />
    </form>
  );
}
