// Columns of single rows of an endpoint or task. A row opens the trace at its span.
import { Link } from "@tanstack/react-router";
import { useProjectId } from "../api/hooks";
import { durationNs, NONE } from "../model/format";
import { exactTime } from "../model/time";
import type { Occurrence } from "../model/types";
import { Ago } from "./Ago";
import type { Column } from "./DataTable";
import { NonRootChip, StatusCode } from "./EntityChips";

interface TraceLinkProps {
  traceId: string;
  spanId?: string;
  at?: string;
  row?: boolean;
  className?: string;
  children: React.ReactNode;
}

/** Link to a trace, optionally at a span. `at` is the time at which the server searches for the trace. */
export function TraceLink({ traceId, spanId, at, row, className = "link", children }: TraceLinkProps) {
  const pid = useProjectId();
  return (
    <Link
      to="/p/$pid/traces/$traceId"
      params={{ pid, traceId }}
      search={{ span: spanId || undefined, at }}
      data-row-link={row ? true : undefined}
      className={row ? `row-link ${className === "link" ? "" : className}` : className}
    >
      {children}
    </Link>
  );
}

export const statusColumn: Column<Occurrence, "status_code"> = {
  key: "status",
  head: "Status",
  sort: "status_code",
  width: "76px",
  cell: (row) => <StatusCode code={row.statusCode} />,
};

/** `own` are columns of one kind, inserted before the duration. */
export function occurrenceColumns<Row extends Occurrence, Order extends string = never>(
  ...own: Column<Row, Order>[]
): Column<Row, Order | "recorded_at" | "duration">[] {
  return [
    {
      key: "time",
      head: "Time",
      sort: "recorded_at",
      card: "main",
      cell: (row) => (
        <span className="flex flex-wrap items-center gap-x-2">
          {/* For a root span, the trace page selects the initial span. */}
          <TraceLink
            traceId={row.traceId}
            spanId={row.isRoot ? undefined : row.spanId}
            at={row.recordedAt}
            row
            className="font-medium"
          >
            {exactTime(row.recordedAt).replace(/(\.\d{3})\d+$/, "$1")}
          </TraceLink>
          <span className="over-row flex gap-1">{!row.isRoot && <NonRootChip />}</span>
        </span>
      ),
    },
    {
      key: "ago",
      head: "",
      className: "text-ink2 max-lg:hidden",
      card: "hide",
      cell: (row) => <Ago at={row.recordedAt} />,
    },
    ...own,
    {
      key: "duration",
      head: "Duration",
      sort: "duration",
      num: true,
      width: "100px",
      cell: (row) => durationNs(row.duration),
    },
    { key: "server", head: "Server", className: "text-ink2", cell: (row) => row.serverName || NONE },
    {
      key: "version",
      head: "Version",
      className: "text-ink2 max-md:hidden",
      card: "hide",
      cell: (row) => row.appVersion || NONE,
    },
    {
      key: "client",
      head: "Client",
      className: "text-ink2 max-lg:hidden",
      card: "hide",
      cell: (row) => row.clientIP || NONE,
    },
    {
      key: "trace",
      head: "Trace",
      width: "96px",
      mono: true,
      className: "text-ink2",
      card: "hide",
      cell: (row) => row.traceId.slice(0, 8),
    },
  ];
}
