// One page of an audit log. `newest` and `older` link to the other pages.
import type { ReactNode } from "react";
import type { AuditRow } from "../api/account-types";
import { actionWords, plainValue, targetWords } from "../model/audit";
import { dateTime, exactTime, parseMs } from "../model/time";
import { type Column, DataTable } from "./DataTable";

export function AuditTable({
  label,
  rows,
  newest,
  older,
}: {
  label: string;
  rows: AuditRow[];
  newest: ReactNode;
  older: ReactNode;
}) {
  return (
    <div className="panel overflow-hidden">
      <div className="overflow-x-auto">
        <DataTable label={label} rows={rows} rowKey={(row) => String(row.id)} columns={COLUMNS} />
      </div>
      <nav aria-label="Pages of the log" className="flex justify-end gap-2 border-line border-t px-3 py-2">
        {newest}
        {older}
      </nav>
    </div>
  );
}

const COLUMNS: Column<AuditRow>[] = [
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
