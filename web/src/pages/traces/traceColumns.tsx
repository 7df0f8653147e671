import { CircleAlert } from "lucide-react";
import type { OrderOf } from "../../api/routes";
import { brief, count, durationNs, percent, plural } from "../../model/format";
import { exactTime } from "../../model/time";
import type { TraceRow } from "../../model/types";
import type { Column } from "../../parts/DataTable";
import { StatusCode } from "../../parts/EntityChips";
import { TraceLink } from "../../parts/occurrenceColumns";
import { ServiceName } from "../../parts/ServiceName";
import { slotColour } from "../../viz/palette";
import { useServiceColours } from "../../viz/useServiceColours";

export const traceColumns: Column<TraceRow, OrderOf<"/api/traces/search">>[] = [
  {
    key: "name",
    head: "Trace",
    card: "main",
    cell: (row) => (
      <span className="flex min-w-0 items-center gap-1.5">
        {row.errors > 0 && <CircleAlert size={13} aria-label="error" className="shrink-0 text-error" />}
        <TraceLink
          traceId={row.traceId}
          at={row.startTime}
          row
          className="font-medium font-mono text-dense [overflow-wrap:anywhere]"
        >
          {brief(row.name) || row.traceId.slice(0, 16)}
        </TraceLink>
        {row.hasMissingParent && (
          <span className="chip shrink-0" title="The first stored span has a parent that is not stored here.">
            began elsewhere
          </span>
        )}
      </span>
    ),
  },
  { key: "service", head: "Service", width: "140px", cell: (row) => <ServiceName name={row.serviceName} /> },
  {
    key: "http",
    head: "HTTP",
    width: "60px",
    card: "hide",
    className: "max-lg:hidden",
    cell: (row) => <StatusCode code={row.httpStatus ?? 0} />,
  },
  {
    key: "shares",
    head: "Time by service",
    help: "Own time of each service's spans; time in which several children run is divided among them.",
    width: "180px",
    className: "max-lg:hidden",
    card: "hide",
    cell: (row) => <Shares row={row} />,
  },
  {
    key: "duration",
    head: "Duration",
    help: "From the first start to the last end of all spans.",
    sort: "duration",
    num: true,
    width: "96px",
    cell: (row) => durationNs(row.duration),
  },
  { key: "spans", head: "Spans", sort: "spans", num: true, width: "76px", cell: (row) => count(row.spans) },
  {
    key: "errors",
    head: "Errors",
    sort: "errors",
    num: true,
    width: "76px",
    cell: (row) => <span className={row.errors ? "text-error" : "text-ink2"}>{count(row.errors)}</span>,
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
];

/** One bar, divided by the own time of services. */
function Shares({ row }: { row: TraceRow }) {
  const colourOf = useServiceColours(row.services.map((one) => one.service));
  const words = row.services
    .map((one) => `${one.service || "no service name"} ${percent(one.share)}, ${plural(one.spans, "span")}`)
    .join("; ");
  return (
    <span
      role="img"
      aria-label={words}
      title={words}
      className="flex h-2 w-full overflow-hidden rounded-[2px] bg-hover"
    >
      {row.services.map((one) => (
        <span
          key={one.service}
          style={{ width: `${one.share * 100}%`, background: slotColour(colourOf(one.service)) }}
          className="h-full border-bg border-r last:border-r-0"
        />
      ))}
    </span>
  );
}
