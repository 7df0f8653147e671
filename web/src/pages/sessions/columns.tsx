import { Link } from "@tanstack/react-router";
import { CircleAlert, MonitorPlay, VideoOff } from "lucide-react";
import { useProjectId } from "../../api/hooks";
import type { SessionOrder, SessionRow } from "../../api/sessions";
import { count, durationNs, NONE } from "../../model/format";
import { deviceOf, pageOf, userOf } from "../../model/replay/session";
import { exactTime } from "../../model/time";
import { Ago } from "../../parts/Ago";
import type { Column } from "../../parts/DataTable";
import { Chip } from "../../ui/Chip";

export const COLUMNS: readonly Column<SessionRow, SessionOrder>[] = [
  {
    key: "user",
    head: "User",
    card: "main",
    cell: (row) => (
      <span className="flex min-w-0 items-center gap-2">
        {!row.hasRecording ? (
          <VideoOff size={13} aria-label="no recording" className="shrink-0 text-ink2" />
        ) : (
          <MonitorPlay size={13} aria-label="recorded" className="shrink-0 text-accent" />
        )}
        <SessionLink row={row} />
        {row.endedAt === null && <Chip tone="ok">open</Chip>}
      </span>
    ),
  },
  {
    key: "entry",
    head: "Page",
    help: "The page at the last report of the session: its last one, once it has ended.",
    mono: true,
    className: "[overflow-wrap:anywhere]",
    card: "half",
    cell: (row) => pageOf(row.attributes) || NONE,
  },
  {
    key: "device",
    head: "Browser or device",
    width: "170px",
    className: "text-ink2 max-md:hidden",
    cell: (row) => deviceOf(row) || NONE,
  },
  {
    key: "pages",
    head: "Pages",
    num: true,
    width: "64px",
    className: "max-lg:hidden",
    card: "hide",
    cell: (row) => count(row.pageCount),
  },
  {
    key: "errors",
    head: "Errors",
    sort: "error_count",
    num: true,
    width: "76px",
    cell: (row) =>
      row.errorCount ? (
        <span className="inline-flex items-center gap-1 font-medium text-error">
          <CircleAlert size={12} aria-hidden /> {count(row.errorCount)}
        </span>
      ) : (
        <span className="text-ink2">{count(row.errorCount)}</span>
      ),
  },
  {
    key: "duration",
    head: "Duration",
    sort: "duration",
    num: true,
    width: "110px",
    cell: (row) => (row.duration > 0 ? durationNs(row.duration) : NONE),
  },
  {
    key: "started",
    head: "Started",
    sort: "started_at",
    num: true,
    width: "190px",
    className: "text-ink2",
    cell: (row) => (
      <span title={exactTime(row.startedAt)}>
        {exactTime(row.startedAt).replace(/\.\d+$/, "")}
        <span className="block text-caption max-sm:hidden">
          <Ago at={row.startedAt} />
        </span>
      </span>
    ),
  },
];

function SessionLink({ row }: { row: SessionRow }) {
  const pid = useProjectId();
  const user = userOf(row);
  return (
    <Link
      to="/p/$pid/sessions/$id"
      params={{ pid, id: row.id }}
      search={{ at: row.startedAt }}
      data-row-link
      className={`row-link min-w-0 font-medium [overflow-wrap:anywhere] ${user ? "" : "text-ink2"}`}
    >
      {user || row.clientIP || `Session ${row.id.slice(0, 8)}`}
    </Link>
  );
}
