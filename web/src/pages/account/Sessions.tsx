import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { endOtherSession, sessionsQuery } from "../../api/account-me";
import type { Session } from "../../api/account-types";
import { showToast } from "../../model/toasts";
import { deviceWords } from "../../model/user-agent";
import { Ago } from "../../parts/Ago";
import { DataTable } from "../../parts/DataTable";
import { MutationButton, Problem } from "../../parts/MutationButton";
import { QueryView } from "../../parts/states";
import { Chip } from "../../ui/Chip";

/** Lists the account's sessions and ends single sessions. */
export function Sessions() {
  const list = useQuery(sessionsQuery);
  const client = useQueryClient();
  const end = useMutation({
    mutationFn: (session: Session) => endOtherSession(session.id),
    onSuccess: (_, session) => {
      client.invalidateQueries({ queryKey: sessionsQuery.queryKey });
      showToast(`${deviceWords(session.userAgent)} is signed out`);
    },
  });
  return (
    <>
      <QueryView query={list}>
        {(rows) => (
          <DataTable
            label="Sessions"
            rows={rows}
            rowKey={(row) => String(row.id)}
            columns={[
              {
                key: "device",
                head: "Device",
                card: "main",
                cell: (row) => (
                  <span className="font-medium [overflow-wrap:anywhere]" title={row.userAgent}>
                    {deviceWords(row.userAgent)}
                  </span>
                ),
              },
              { key: "address", head: "Address", cell: (row) => row.address },
              { key: "created", head: "Signed in", cell: (row) => <Ago at={row.createdAt} /> },
              { key: "seen", head: "Last seen", cell: (row) => <Ago at={row.lastSeenAt} /> },
              {
                key: "end",
                head: "",
                num: true,
                cell: (row) =>
                  row.current ? (
                    <Chip>This one</Chip>
                  ) : (
                    <MutationButton
                      of={end}
                      onClick={() => end.mutate(row)}
                      aria-label={`Sign out ${deviceWords(row.userAgent)} at ${row.address}`}
                    >
                      Sign out
                    </MutationButton>
                  ),
              },
            ]}
          />
        )}
      </QueryView>
      <Problem of={end} />
    </>
  );
}
