import { Activity, Bot, CircleAlert, ListChecks } from "lucide-react";
import type { OrderOf } from "../../api/routes";
import { durationNs } from "../../model/format";
import { exactTime } from "../../model/time";
import type { Span } from "../../model/types";
import { spanKind } from "../../model/words";
import type { Column } from "../../parts/DataTable";
import { StatusCode } from "../../parts/EntityChips";
import { TraceLink } from "../../parts/occurrenceColumns";
import { ServiceName } from "../../parts/ServiceName";

export function spanColumns(rows: Span[]): Column<Span, OrderOf<"/api/spans">>[] {
  const longest = Math.max(1, ...rows.map((row) => row.duration));
  return [
    {
      key: "name",
      head: "Span",
      card: "main",
      cell: (row) => (
        <span className="flex min-w-0 items-center gap-1.5">
          {row.statusCode === 2 && <CircleAlert size={13} aria-label="error" className="shrink-0 text-error" />}
          {row.isEndpoint && <Activity size={12} aria-label="endpoint" className="shrink-0 text-ink2" />}
          {row.isTask && <ListChecks size={12} aria-label="task" className="shrink-0 text-ink2" />}
          {row.isAiTrace && <Bot size={12} aria-label="AI trace" className="shrink-0 text-ink2" />}
          <TraceLink
            traceId={row.traceId}
            spanId={row.parentSpanId ? row.spanId : undefined}
            at={row.startTime}
            row
            className="font-medium font-mono text-dense [overflow-wrap:anywhere]"
          >
            {row.name}
          </TraceLink>
        </span>
      ),
    },
    { key: "service", head: "Service", width: "150px", cell: (row) => <ServiceName name={row.serviceName} /> },
    {
      key: "kind",
      head: "Kind",
      width: "90px",
      className: "text-ink2 max-md:hidden",
      card: "hide",
      cell: (row) => spanKind(row.spanKind),
    },
    {
      key: "http",
      head: "HTTP",
      width: "64px",
      card: "hide",
      cell: (row) => <StatusCode code={row.httpStatus ?? 0} />,
    },
    {
      key: "bar",
      head: "",
      width: "140px",
      className: "max-lg:hidden",
      card: "hide",
      cell: (row) => (
        <span aria-hidden className="block h-1.5 rounded bg-hover">
          <span
            className={`block h-1.5 rounded ${row.statusCode === 2 ? "hatch bg-errorsoft" : "bg-accent"}`}
            style={{ width: `${Math.max(1, (row.duration / longest) * 100)}%` }}
          />
        </span>
      ),
    },
    {
      key: "duration",
      head: "Duration",
      sort: "duration",
      num: true,
      width: "96px",
      cell: (row) => durationNs(row.duration),
    },
    {
      key: "start",
      head: "Started",
      sort: "start_time",
      num: true,
      width: "200px",
      className: "text-ink2",
      cell: (row) => exactTime(row.startTime).replace(/(\.\d{3})\d+$/, "$1"),
    },
    {
      key: "trace",
      head: "Trace",
      width: "90px",
      card: "hide",
      mono: true,
      className: "text-ink2 max-xl:hidden",
      cell: (row) => row.traceId.slice(0, 8),
    },
  ];
}
