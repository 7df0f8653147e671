import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { grantsQuery, revokeGrant } from "../../api/account-me";
import type { Grant } from "../../api/account-types";
import { scopeWords } from "../../model/scopes";
import { showToast } from "../../model/toasts";
import { Ago } from "../../parts/Ago";
import { Confirm } from "../../parts/Confirm";
import { DataTable } from "../../parts/DataTable";
import { MutationButton } from "../../parts/MutationButton";
import { Section } from "../../parts/Page";
import { ProjectNames } from "../../parts/ScopeChoice";
import { Empty, QueryView } from "../../parts/states";

/** Command line tools, devices and applications with a grant of this account. */
export function Apps() {
  const [ending, setEnding] = useState<Grant | null>(null);
  const list = useQuery(grantsQuery);
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: (grant: Grant) => revokeGrant(grant.id),
    onSuccess: (_, grant) => {
      setEnding(null);
      client.invalidateQueries({ queryKey: grantsQuery.queryKey });
      showToast(`${grant.clientName || grant.clientId} is signed out`);
    },
  });
  const code = (
    <Link to="/device" className="btn">
      Type a device's code
    </Link>
  );
  return (
    <>
      <Section title="Signed-in applications" actions={code} flush>
        <QueryView query={list}>
          {(rows) =>
            rows.length ? (
              <DataTable
                label="Signed-in applications"
                rows={rows}
                rowKey={(row) => String(row.id)}
                columns={[
                  {
                    key: "client",
                    head: "Application",
                    card: "main",
                    cell: (row) => (
                      <>
                        <div className="font-medium [overflow-wrap:anywhere]">{row.clientName || row.clientId}</div>
                        {row.clientName && row.clientName !== row.clientId && (
                          <div className="text-dense text-ink2 [overflow-wrap:anywhere]">{row.clientId}</div>
                        )}
                      </>
                    ),
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
                  { key: "since", head: "Allowed", cell: (row) => <Ago at={row.createdAt} /> },
                  {
                    key: "used",
                    head: "Last used",
                    cell: (row) => (row.lastUsedAt ? <Ago at={row.lastUsedAt} /> : "never"),
                  },
                  {
                    key: "end",
                    head: "",
                    num: true,
                    cell: (row) => (
                      <MutationButton
                        of={revoke}
                        onClick={() => setEnding(row)}
                        aria-label={`Sign out ${row.clientName || row.clientId}`}
                      >
                        Sign out
                      </MutationButton>
                    ),
                  },
                ]}
              />
            ) : (
              <Empty title="No application is signed in">
                Command lines, devices and assistants that you let in show up here, and can be signed out.
              </Empty>
            )
          }
        </QueryView>
      </Section>
      {ending && (
        <Confirm
          open
          onOpenChange={(open) => !open && setEnding(null)}
          title={`Sign out ${ending.clientName || ending.clientId}?`}
          label="Sign out"
          of={revoke}
          onConfirm={() => revoke.mutate(ending)}
        >
          <p>It has to ask you again before it can act as you.</p>
        </Confirm>
      )}
    </>
  );
}
