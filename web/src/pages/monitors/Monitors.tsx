// The monitors of the project: state, latest durations, availability of 90 days.
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { useMayWrite } from "../../api/account";
import { useConfigTypes, useTypesForLabels } from "../../api/config-types";
import { usePost, useProjectId } from "../../api/hooks";
import { labelOf } from "../../model/config-fields";
import { count } from "../../model/format";
import { targetOf, uptimeText } from "../../model/monitors";
import type { Check, CheckCounts, CheckOverviewRow } from "../../model/types";
import { type Column, DataTable } from "../../parts/DataTable";
import { PAGE_SIZE, usePatchSearch } from "../../parts/listSearch";
import { PageHead, Toolbar } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { Empty, QueryView } from "../../parts/states";
import { SearchBox } from "../../ui/SearchBox";
import { Segmented } from "../../ui/Segmented";
import { DayBars, DurationLine, StateChip } from "./cells";
import { MonitorForm } from "./MonitorForm";
import { TokenDialog } from "./TokenDialog";

const route = getRouteApi("/p/$pid/monitors");

/** Milliseconds between two loads of the list. */
const EVERY_MS = 10_000;

export function MonitorsPage() {
  const { q, state, page } = route.useSearch();
  const patch = usePatchSearch();
  const mayWrite = useMayWrite();
  const [isOpen, setOpen] = useState(false);
  const [made, setMade] = useState<Check | null>(null);
  const query = usePost(
    "/api/synthetics/overview",
    { search: q ?? "", state: state ?? null, pagination: { page: page ?? 1, pageSize: PAGE_SIZE } },
    { every: EVERY_MS },
  );
  // The form needs them, and so does each row.
  useConfigTypes("monitors");
  const open = useOpenMonitor();
  const add = mayWrite && (
    <button type="button" className="btn btn-primary" onClick={() => setOpen(true)}>
      <Plus size={14} aria-hidden /> New monitor
    </button>
  );
  return (
    <>
      <PageHead
        title="Monitors"
        sub={query.data ? <Counts counts={query.data.counts} /> : "Checks of addresses and jobs at intervals."}
        actions={add}
      />
      <Toolbar>
        <SearchBox
          value={q ?? ""}
          label="Search monitors"
          placeholder="Part of the name"
          onSearch={(text) => patch({ q: text || undefined }, true)}
        />
        <Segmented
          label="State"
          value={state ?? "all"}
          options={[
            { value: "all", label: "All" },
            { value: "down", label: "Down" },
            { value: "up", label: "Up" },
            { value: "unknown", label: "Unknown" },
          ]}
          onChange={(next) => patch({ state: next === "all" ? undefined : next })}
        />
      </Toolbar>
      <div className="panel mx-4 mb-6 overflow-x-auto">
        <QueryView query={query}>
          {({ checks, pagination }) =>
            checks.length ? (
              <>
                <DataTable label="Monitors" columns={COLUMNS} rows={checks} rowKey={(row) => String(row.check.id)} />
                <Pager pagination={pagination} noun="monitors" />
              </>
            ) : q || state ? (
              <Empty title="No monitor matches">Change the search or the state.</Empty>
            ) : (
              <Empty title="No monitors yet" action={add}>
                A monitor checks a web page, a port, a certificate, a DNS name or a cron job at intervals, and tells you
                when it is down.
              </Empty>
            )
          }
        </QueryView>
      </div>
      {isOpen && (
        <MonitorForm
          browserProblem={query.data?.browserProblem}
          onClose={() => setOpen(false)}
          onSaved={(check) => {
            setOpen(false);
            if (check.token) setMade(check);
            else open(check.id);
          }}
        />
      )}
      {made && <TokenDialog check={made} onDone={() => open(made.id)} />}
    </>
  );
}

function useOpenMonitor(): (id: number) => void {
  const pid = useProjectId();
  const navigate = useNavigate();
  return (id) => void navigate({ to: "/p/$pid/monitors/$id", params: { pid, id: String(id) } });
}

function Counts({ counts }: { counts: CheckCounts }) {
  const words = (["down", "up", "unknown", "paused"] as const).filter((state) => counts[state] > 0);
  if (!words.length) return <span>Checks of addresses and jobs at intervals.</span>;
  return (
    <>
      {words.map((state) => (
        <span key={state} className={state === "down" ? "font-medium text-error" : ""}>
          {count(counts[state])} {state}
        </span>
      ))}
    </>
  );
}

const COLUMNS: readonly Column<CheckOverviewRow>[] = [
  { key: "name", head: "Monitor", card: "main", cell: (row) => <Name row={row} /> },
  { key: "state", head: "State", width: "130px", cell: (row) => <StateChip check={row.check} /> },
  {
    key: "duration",
    head: "Duration",
    help: "The latest checks.",
    width: "190px",
    cell: (row) => <DurationLine durations={row.durations} />,
  },
  {
    key: "days",
    head: "90 days",
    help: "One bar for each UTC day: green without failures, amber below 100 %, red below 95 %, grey if it was not checked.",
    width: "28%",
    card: "half",
    className: "max-lg:hidden",
    cell: (row) => <DayBars days={row.days} uptime={row.uptimePct} nowMs={Date.now()} />,
  },
  {
    key: "uptime",
    head: "Uptime",
    help: "Share of good checks in the last 90 days.",
    num: true,
    width: "100px",
    cell: (row) => uptimeText(row.uptimePct),
  },
];

function Name({ row: { check, lastResult } }: { row: CheckOverviewRow }) {
  const pid = useProjectId();
  const types = useTypesForLabels("monitors");
  const reason = check.enabled && check.state === "down" ? lastResult?.reason : "";
  return (
    <span className="block min-w-0">
      <Link
        to="/p/$pid/monitors/$id"
        params={{ pid, id: String(check.id) }}
        data-row-link
        className="row-link font-medium [overflow-wrap:anywhere]"
      >
        {check.name}
      </Link>
      <span className="block text-caption text-ink2 [overflow-wrap:anywhere]">
        {labelOf(types, check.checkType)} · {targetOf(check)}
      </span>
      {check.problem && <span className="block text-caption text-warn [overflow-wrap:anywhere]">{check.problem}</span>}
      {reason && <span className="block text-caption text-error [overflow-wrap:anywhere]">{reason}</span>}
    </span>
  );
}
