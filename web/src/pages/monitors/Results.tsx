// The results of a monitor, newest first, with the reason of each failure and a link to its trace.
import { getRouteApi, Link } from "@tanstack/react-router";
import { usePost, useProjectId } from "../../api/hooks";
import { useRange } from "../../api/range";
import { durationMs, NONE } from "../../model/format";
import { exactTime } from "../../model/time";
import type { Check, CheckResult } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { type Column, DataTable } from "../../parts/DataTable";
import { PAGE_SIZE, usePatchSearch } from "../../parts/listSearch";
import { Section } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { Empty, QueryView } from "../../parts/states";
import { Chip } from "../../ui/Chip";
import { Segmented } from "../../ui/Segmented";

const route = getRouteApi("/p/$pid/monitors/$id");

export function Results({ check }: { check: Check }) {
  const { failed, page } = route.useSearch();
  const { body } = useRange();
  const patch = usePatchSearch();
  const query = usePost(
    "/api/synthetics/checks/{id}/results",
    { ...body, failedOnly: !!failed, pagination: { page: page ?? 1, pageSize: PAGE_SIZE } },
    { path: { id: String(check.id) } },
  );
  const filter = (
    <Segmented
      label="Results"
      value={failed ? "failed" : "all"}
      options={[
        { value: "all", label: "All" },
        { value: "failed", label: "Failed" },
      ]}
      onChange={(next) => patch({ failed: next === "failed" ? true : undefined })}
    />
  );
  return (
    <Section title="Results" actions={filter} flush>
      <QueryView query={query}>
        {({ data, pagination }) =>
          data.length ? (
            <>
              <DataTable label="Results" columns={COLUMNS} rows={data} rowKey={(row) => String(row.id)} />
              <Pager pagination={pagination} noun="results" />
            </>
          ) : (
            <Empty title={failed ? "Nothing has failed in this time range" : "No results in this time range"}>
              {check.checkType === "heartbeat"
                ? "A result is added by each report of the job, and when it is late."
                : "The first one is there a second after the monitor is created."}
            </Empty>
          )
        }
      </QueryView>
    </Section>
  );
}

const TONES = { up: "ok", down: "error", missed: "plain" } as const;

const COLUMNS: readonly Column<CheckResult>[] = [
  {
    key: "outcome",
    head: "Result",
    width: "90px",
    cell: (row) => <Chip tone={TONES[row.outcome]}>{row.outcome}</Chip>,
  },
  {
    key: "reason",
    head: "Reason",
    card: "main",
    className: "[overflow-wrap:anywhere]",
    cell: (row) => <Reason row={row} />,
  },
  { key: "duration", head: "Duration", num: true, width: "100px", cell: (row) => <Duration row={row} /> },
  { key: "trace", head: "Trace", width: "80px", cell: (row) => <Trace row={row} /> },
  { key: "time", head: "Time", num: true, width: "120px", className: "text-ink2", cell: (row) => <Ago at={row.at} /> },
];

function Reason({ row }: { row: CheckResult }) {
  if (!row.output) return row.reason || <Fine row={row} />;
  return (
    <>
      {row.reason || <Fine row={row} />}
      <details>
        <summary className="cursor-pointer text-dense text-ink2">Output</summary>
        <Output result={row} />
      </details>
    </>
  );
}

/** Output of the script of a check. */
export function Output({ result }: { result: CheckResult }) {
  return (
    <pre className="max-h-72 overflow-auto whitespace-pre-wrap font-mono text-dense" tabIndex={0}>
      {result.output}
    </pre>
  );
}

function Fine({ row }: { row: CheckResult }) {
  const expires = row.tlsExpiresAt ? `certificate until ${exactTime(row.tlsExpiresAt)}` : "";
  const words = [row.statusCode === null ? "" : `status ${row.statusCode}`, expires].filter(Boolean).join(", ");
  return <span className="text-ink2">{words || "good"}</span>;
}

function Duration({ row }: { row: CheckResult }) {
  if (row.totalMs === null) return <span className="text-ink2">{NONE}</span>;
  const phases = [
    ["DNS", row.dnsMs],
    ["connect", row.connectMs],
    ["TLS", row.tlsMs],
    ["wait", row.waitMs],
  ] as const;
  const title = phases.flatMap(([name, ms]) => (ms === null ? [] : `${name} ${durationMs(ms)}`)).join(", ");
  return <span title={title}>{durationMs(row.totalMs)}</span>;
}

function Trace({ row }: { row: CheckResult }) {
  const pid = useProjectId();
  if (!row.traceId) return <span className="text-ink2">{NONE}</span>;
  return (
    <Link
      to="/p/$pid/traces/$traceId"
      params={{ pid, traceId: row.traceId }}
      search={{ at: row.at }}
      className="link"
      aria-label={`Trace of the check at ${exactTime(row.at)}`}
    >
      Trace
    </Link>
  );
}
