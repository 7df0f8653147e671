import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { createToken, revokeToken, tokensQuery } from "../../api/account-me";
import type { AccessToken } from "../../api/account-types";
import { contained, scopeWords } from "../../model/scopes";
import { showToast } from "../../model/toasts";
import { Ago } from "../../parts/Ago";
import { Confirm } from "../../parts/Confirm";
import { type Column, DataTable } from "../../parts/DataTable";
import { ExpiryLabel } from "../../parts/ExpiryLabel";
import { MutationButton, Problem, Submit } from "../../parts/MutationButton";
import { OnceSecret } from "../../parts/OnceSecret";
import { Section } from "../../parts/Page";
import { type Choice, ProjectNames, ScopeChoice } from "../../parts/ScopeChoice";
import { Empty, QueryView } from "../../parts/states";
import { Field } from "../../ui/Field";
import { SelectField } from "../../ui/SelectField";

const LIFETIMES = [
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "A year" },
];

export function Tokens() {
  const [made, setMade] = useState<(AccessToken & { token: string }) | null>(null);
  const [ending, setEnding] = useState<AccessToken | null>(null);
  const list = useQuery(tokensQuery);
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: (token: AccessToken) => revokeToken(token.id),
    onSuccess: (_, token) => {
      setEnding(null);
      if (made?.id === token.id) setMade(null);
      client.invalidateQueries({ queryKey: tokensQuery.queryKey });
      showToast(`Token ${token.name} revoked`);
    },
  });
  return (
    <>
      <Section title="New token">
        <New onMade={setMade} />
        {made && (
          <div className="mt-4">
            <OnceSecret
              title={`${made.name} is ready`}
              label="The new token"
              secret={made.token}
              onDone={() => setMade(null)}
            >
              Send it as <code className="font-mono text-dense">Authorization: Bearer …</code>. It ends{" "}
              <ExpiryLabel at={made.expiresAt} />.
            </OnceSecret>
          </div>
        )}
      </Section>
      <Section title="Your tokens" flush>
        <QueryView query={list}>
          {(rows) =>
            rows.length ? (
              <DataTable
                label="Access tokens"
                columns={columns((token) => setEnding(token), revoke)}
                rows={rows}
                rowKey={(row) => String(row.id)}
              />
            ) : (
              <Empty title="No tokens yet">
                Scripts and the command line sign in with a token instead of a password.
              </Empty>
            )
          }
        </QueryView>
      </Section>
      {ending && (
        <Confirm
          open
          onOpenChange={(open) => !open && setEnding(null)}
          title={`Revoke ${ending.name}?`}
          label="Revoke the token"
          of={revoke}
          onConfirm={() => revoke.mutate(ending)}
        >
          <p>Whatever uses it stops working at once. This cannot be undone.</p>
        </Confirm>
      )}
    </>
  );
}

type Revoke = { isPending: boolean; error: Error | null };

function columns(onEnd: (token: AccessToken) => void, revoke: Revoke): Column<AccessToken>[] {
  return [
    {
      key: "name",
      head: "Name",
      card: "main",
      cell: (row) => <span className="font-medium [overflow-wrap:anywhere]">{row.name}</span>,
    },
    {
      key: "prefix",
      head: "Begins with",
      cell: (row) => <code className="font-mono text-dense">{row.prefix.replace(/[….]+$/, "")}…</code>,
    },
    {
      key: "scope",
      head: "May",
      cell: (row) => (
        <>
          <div>{scopeWords(row.scopes)}</div>
          <div className="text-dense text-ink2 [overflow-wrap:anywhere]">
            <ProjectNames ids={row.projectIds} />
          </div>
        </>
      ),
    },
    { key: "created", head: "Made", cell: (row) => <Ago at={row.createdAt} /> },
    { key: "used", head: "Last used", cell: (row) => (row.lastUsedAt ? <Ago at={row.lastUsedAt} /> : "never") },
    { key: "expires", head: "Ends", cell: (row) => <ExpiryLabel at={row.expiresAt} /> },
    {
      key: "revoke",
      head: "",
      num: true,
      cell: (row) => (
        <MutationButton of={revoke} onClick={() => onEnd(row)} aria-label={`Revoke the token ${row.name}`}>
          Revoke
        </MutationButton>
      ),
    },
  ];
}

function New({ onMade }: { onMade: (token: AccessToken & { token: string }) => void }) {
  const [name, setName] = useState("");
  const [days, setDays] = useState("90");
  const [choice, setChoice] = useState<Choice>({ scope: "read", project: "" });
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: () =>
      createToken({
        name: name.trim(),
        expiresInDays: Number(days),
        scopes: contained(choice.scope),
        projectIds: choice.project ? [choice.project] : undefined,
      }),
    onSuccess: (token) => {
      setName("");
      onMade(token);
      client.invalidateQueries({ queryKey: tokensQuery.queryKey });
    },
  });
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <div className="grid items-end gap-3 sm:grid-cols-[minmax(0,1fr)_140px_auto]">
        <Field
          label="Name"
          required
          maxLength={100}
          autoComplete="off"
          placeholder="deploy script"
          value={name}
          onText={setName}
        />
        <SelectField label="Ends after" value={days} options={LIFETIMES} onChange={setDays} />
        <Submit of={create} busy="Making…">
          Make a token
        </Submit>
      </div>
      <ScopeChoice most="admin" choice={choice} onChange={setChoice} />
      <p className="text-dense text-ink2">
        Never more than you may do yourself. Making credentials, inviting people and deleting projects need your own
        sign-in, whatever the token may do.
      </p>
      <Problem of={create} />
    </form>
  );
}
