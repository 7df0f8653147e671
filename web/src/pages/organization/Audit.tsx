import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Download } from "lucide-react";
import { auditQuery, exportAudit, membersQuery } from "../../api/account-organization";
import type { AuditRow } from "../../api/account-types";
import { actionWords, plainValue, targetWords } from "../../model/audit";
import { dateTime, exactTime, parseMs } from "../../model/time";
import { Act, Problem } from "../../parts/Act";
import { type Column, DataTable } from "../../parts/DataTable";
import { Empty, QueryView } from "../../parts/states";
import { SearchBox } from "../../ui/SearchBox";
import { SearchLink } from "../../ui/SearchLink";
import { Select } from "../../ui/Select";
import type { Organization } from "./Organization";

const route = getRouteApi("/signed-in/plain/organization");

/** Every change: who, what, when, from where. The address holds filter and place. */
export function Audit({ organization }: { organization: Organization }) {
  const { action, by, before } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useQuery(auditQuery(organization.id, { action, userId: by ? String(by) : undefined, before }));
  const members = useQuery(membersQuery(organization.id)).data ?? [];
  const people = [
    { value: "", label: "Everyone" },
    ...members.map((one) => ({ value: String(one.userId), label: one.name || one.email })),
  ];
  if (by && !members.some((one) => one.userId === by)) people.push({ value: String(by), label: `User ${by}` });
  const filtered = !!(action || by || before);
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <SearchBox
          value={action ?? ""}
          label="Filter by action"
          placeholder="Action, such as member.removed"
          onSearch={(text) =>
            navigate({ search: (old) => ({ ...old, action: text || undefined, before: undefined }), replace: true })
          }
        />
        <Select
          label="By whom"
          show
          value={by ? String(by) : ""}
          options={people}
          onChange={(id) =>
            navigate({ search: (old) => ({ ...old, by: id ? Number(id) : undefined, before: undefined }) })
          }
        />
        <span className="flex-1" />
        <Export organization={organization} />
      </div>
      <QueryView query={list}>
        {(page) =>
          page.data.length ? (
            <div className="panel overflow-hidden">
              <div className="overflow-x-auto">
                <DataTable
                  label="Audit log"
                  rows={page.data}
                  rowKey={(row) => String(row.id)}
                  columns={AUDIT_COLUMNS}
                />
              </div>
              <nav aria-label="Pages of the log" className="flex justify-end gap-2 border-line border-t px-3 py-2">
                {before && (
                  <SearchLink change={{ before: undefined }} className="btn">
                    Newest
                  </SearchLink>
                )}
                {page.next !== null && page.next !== undefined && page.next !== "" && (
                  <SearchLink change={{ before: String(page.next) }} className="btn">
                    Older
                  </SearchLink>
                )}
              </nav>
            </div>
          ) : (
            <div className="panel">
              <Empty
                title={filtered ? "Nothing matches" : "Nothing has happened yet"}
                action={
                  filtered && (
                    <SearchLink change={{ action: undefined, by: undefined, before: undefined }} className="btn">
                      Clear the filter
                    </SearchLink>
                  )
                }
              >
                Every change of members, roles, tokens and settings is written down here, and every sign-in of a member.
              </Empty>
            </div>
          )
        }
      </QueryView>
    </>
  );
}

export const AUDIT_COLUMNS: Column<AuditRow>[] = [
  {
    key: "at",
    head: "When",
    cell: (row) => (
      <time dateTime={row.at} title={exactTime(row.at)} className="sm:whitespace-nowrap">
        {dateTime(parseMs(row.at))}
      </time>
    ),
  },
  {
    key: "who",
    head: "Who",
    card: "half",
    cell: (row) => <span className="[overflow-wrap:anywhere]">{row.actor?.email ?? "the server"}</span>,
  },
  {
    key: "what",
    head: "What",
    card: "main",
    width: "42%",
    cell: (row) => (
      <>
        <div className="font-medium" title={row.action}>
          {actionWords(row.action)}
        </div>
        {row.target !== undefined && row.target !== null && row.target !== "" && (
          <div className="text-dense text-ink2 [overflow-wrap:anywhere]">{targetWords(row.target)}</div>
        )}
        <Detail row={row} />
      </>
    ),
  },
  {
    key: "from",
    head: "From",
    card: "main",
    cell: (row) => (
      <span className="text-dense text-ink2 [overflow-wrap:anywhere]" title={row.userAgent ?? undefined}>
        {row.ip || "–"}
      </span>
    ),
  },
];

function Detail({ row }: { row: AuditRow }) {
  const entries = Object.entries(row.detail ?? {});
  if (row.userAgent) entries.push(["browser or tool", row.userAgent]);
  if (!entries.length) return null;
  return (
    <details className="text-dense">
      <summary className="text-ink2">Details</summary>
      <dl className="mt-1 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3">
        {entries.map(([key, value]) => (
          <div key={key} className="contents">
            <dt className="text-ink2">{key}</dt>
            <dd className="[overflow-wrap:anywhere]">{plainValue(value)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function Export({ organization }: { organization: Organization }) {
  const save = useMutation({ mutationFn: (format: "csv" | "jsonl") => exportAudit(organization.id, format) });
  return (
    <>
      <Act of={save} onClick={() => save.mutate("csv")}>
        <Download size={14} aria-hidden className="text-ink2" /> CSV
      </Act>
      <Act of={save} onClick={() => save.mutate("jsonl")}>
        <Download size={14} aria-hidden className="text-ink2" /> JSON lines
      </Act>
      {save.error && (
        <div className="w-full">
          <Problem of={save} />
        </div>
      )}
    </>
  );
}
