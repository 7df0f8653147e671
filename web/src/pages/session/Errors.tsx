import { Link } from "@tanstack/react-router";
import { ArrowUpRight, CircleAlert, MessageSquareText, Waypoints } from "lucide-react";
import { useCallback } from "react";
import { useProjectId } from "../../api/hooks";
import type { SessionError } from "../../api/sessions";
import { TraceLink } from "../../parts/occurrenceColumns";
import { EventList } from "../../parts/replay/EventList";
import type { Replay } from "../../parts/replay/replay";

export type ErrorAt = SessionError & { at: number };

export function Errors({ replay, startMs, errors }: { replay: Replay; startMs: number; errors: ErrorAt[] }) {
  const pid = useProjectId();
  return (
    <EventList<ErrorAt>
      label="Errors"
      replay={replay}
      rows={errors}
      at={useCallback((row: ErrorAt) => row.at - startMs, [startMs])}
      empty="No exception and no message was reported during this session."
      beside={(row) => (
        <span className="flex shrink-0 items-center py-0.5 pr-1">
          {row.traceId && (
            <TraceLink
              traceId={row.traceId}
              spanId={row.spanId}
              at={row.recordedAt}
              className="btn btn-ghost btn-icon h-6! w-6!"
            >
              <Waypoints size={13} aria-label="Open the trace" />
            </TraceLink>
          )}
          <Link
            to="/p/$pid/issues/$hash"
            params={{ pid, hash: row.exceptionHash }}
            className="btn btn-ghost h-6! px-1.5! text-accent!"
          >
            Issue <ArrowUpRight size={12} aria-hidden />
          </Link>
        </span>
      )}
    >
      {(row) => (
        <>
          {row.isMessage ? (
            <MessageSquareText size={13} aria-label="Message" className="mt-1 shrink-0 text-ink2" />
          ) : (
            <CircleAlert size={13} aria-hidden className="mt-1 shrink-0 text-error" />
          )}
          <span className="line-clamp-3 min-w-0 leading-5 [overflow-wrap:anywhere]">{row.title}</span>
        </>
      )}
    </EventList>
  );
}
