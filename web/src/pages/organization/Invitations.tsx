import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { invitationsQuery, invite, newInvitationLink, revokeInvitation } from "../../api/account-organization";
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
import { CopyButton } from "../../ui/Copy";
import { Field } from "../../ui/Field";
import { SelectField } from "../../ui/SelectField";

const NO_MAIL_SERVER = "This server has no mail server (SMTP_HOST), so nothing was sent.";

export function Invitations({ organization }: { organization: Organization }) {
  const list = useQuery(invitationsQuery(organization.id));
  const client = useQueryClient();
  const refresh = () => client.invalidateQueries({ queryKey: invitationsQuery(organization.id).queryKey });
  const revoke = useMutation({
    mutationFn: (one: PendingInvitation) => revokeInvitation(organization.id, one.id),
    onSuccess: (_, one) => showToast(`The invitation of ${one.email} is taken back`),
    onSettled: refresh,
  });
  const [passedOn, setPassedOn] = useState<InvitationLink>();
  const renew = useMutation({
    mutationFn: (one: PendingInvitation) => newInvitationLink(organization.id, one.id),
    onSuccess: ({ link }, one) =>
      setPassedOn({ email: one.email, link: atThisAddress(link), why: "Earlier links have ended." }),
    onSettled: refresh,
  });
  return (
    <>
      <Section title="Invite somebody">
        <Invite
          organization={organization}
          onSent={(link) => {
            setPassedOn(link);
            refresh();
          }}
        />
        {passedOn && <PassOn {...passedOn} />}
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
                    key: "actions",
                    head: "",
                    num: true,
                    card: "half",
                    cell: (row) => (
                      <span className="inline-flex flex-wrap justify-end gap-2">
                        <MutationButton
                          of={renew}
                          aria-label={`New link for ${row.email}`}
                          onClick={() => renew.mutate(row)}
                        >
                          New link
                        </MutationButton>
                        <MutationButton
                          of={revoke}
                          aria-label={`Take back the invitation of ${row.email}`}
                          onClick={() => revoke.mutate(row)}
                        >
                          Take back
                        </MutationButton>
                      </span>
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
      <Problem of={renew} />
    </>
  );
}

interface InvitationLink {
  email: string;
  link: string;
  /** The reason for which the link is shown, one sentence. */
  why: string;
}

/** The link of an invitation, which is shown once. */
function PassOn({ email, link, why }: InvitationLink) {
  return (
    <div role="status" className="mt-3 space-y-2 rounded-control border border-line bg-panel p-3 text-dense">
      <p>
        {why} Send this link to <strong className="font-semibold">{email}</strong> yourself: it works once, for seven
        days, for whoever has it.
      </p>
      <div className="flex items-start gap-2">
        <code className="min-w-0 flex-1 font-mono [overflow-wrap:anywhere]">{link}</code>
        <CopyButton text={link} label={`Copy the link for ${email}`} words="Copy" />
      </div>
    </div>
  );
}

/** The link at the address under which this page was reached: the server may know none that others can use. */
function atThisAddress(link: string): string {
  const { pathname, hash } = new URL(link, location.origin);
  return `${location.origin}${pathname}${hash}`;
}

function Invite({
  organization,
  onSent,
}: {
  organization: Organization;
  onSent: (passedOn: InvitationLink | undefined) => void;
}) {
  const offered = rolesToInvite(organization.role);
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<string>("user");
  const send = useMutation({
    mutationFn: () => invite(organization.id, { email: email.trim(), role }),
    onSuccess: ({ link }) => {
      if (!link) showToast(`Invitation sent to ${email.trim()}`);
      setEmail("");
      onSent(link ? { email: email.trim(), link: atThisAddress(link), why: NO_MAIL_SERVER } : undefined);
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
        {ROLE_WORDS[asRole(role)].means} The link of the invitation works for seven days.
      </p>
      <Problem of={send} />
    </form>
  );
}
