// The live tail: records as they are stored, the newest at the end.
import { ArrowDownToLine, Eraser, Pause, Play } from "lucide-react";
import { useEffect, useState } from "react";
import { ApiError } from "../../api/client";
import { useLiveLogs } from "../../api/live-logs";
import { count, plural } from "../../model/format";
import { sentence } from "../../model/problem";
import { LogList } from "../../parts/LogList";
import { Empty } from "../../parts/states";
import { useKeys } from "../../ui/keys";
import { Tip } from "../../ui/Tip";

interface Props {
  query: string;
  /** Reports the error of the query that is typed. */
  onError: (error: unknown) => void;
  columns: string[];
  onColumn: (key: string) => void;
  onFilter: (key: string, value: string) => void;
}

export function Live({ query, onError, columns, onColumn, onFilter }: Props) {
  const { state, change, status, error } = useLiveLogs(query);
  const [follows, setFollows] = useState(true);
  const { shown, held, paused, leftOut } = state;
  const isInQuery = error instanceof ApiError && error.position !== null;
  useEffect(() => onError(isInQuery ? error : null), [error, isInQuery, onError]);
  const toggle = () => change({ type: paused ? "resume" : "pause" });
  useKeys({ p: toggle, f: () => setFollows((old) => !old) });
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 border-line border-b px-4 py-1.5">
        <button type="button" className="btn" aria-pressed={paused} onClick={toggle}>
          {paused ? <Play size={14} aria-hidden /> : <Pause size={14} aria-hidden />}
          {paused ? "Resume" : "Pause"}
        </button>
        <button type="button" className="btn" aria-pressed={follows} onClick={() => setFollows(!follows)}>
          <ArrowDownToLine size={14} aria-hidden /> {follows ? "Following" : "Follow"}
        </button>
        <button type="button" className="btn btn-ghost" onClick={() => change({ type: "clear" })}>
          <Eraser size={14} aria-hidden /> Clear
        </button>
        <p className="min-w-0 flex-1 text-dense text-ink2 max-sm:order-last max-sm:basis-full" role="status">
          {status === "open" ? (
            <>
              <span aria-hidden className="mr-1.5 inline-block size-2 rounded-full bg-ok" />
              {paused ? `Paused, ${plural(held.length, "new record")}` : "Live"}
            </>
          ) : isInQuery ? null : error ? (
            `${sentence(error instanceof Error ? error.message : String(error))} ${status === "ended" ? "" : "Connecting again…"}`
          ) : (
            "Connecting…"
          )}
        </p>
        <Tip text="Records that came faster than 200 per second, or than the server could look at. The list without Live has all of them.">
          <span className={`text-dense ${leftOut ? "font-medium text-warn" : "text-ink2"}`} tabIndex={0}>
            {count(leftOut)} left out
          </span>
        </Tip>
      </div>
      {shown.length ? (
        <LogList
          rows={shown}
          total={shown.length}
          label="Live logs"
          columns={columns}
          onColumn={onColumn}
          onFilter={onFilter}
          rowKey={(row) => row.number}
          follows={follows && !paused}
          onScrollUp={() => setFollows(false)}
        />
      ) : (
        <Empty title="Waiting for log records">
          Records appear here as they are stored, whatever time they carry. Filters apply.
        </Empty>
      )}
    </>
  );
}
