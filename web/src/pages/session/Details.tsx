// The attributes of a session, and the traces that belong to it.
import { Waypoints } from "lucide-react";
import type { SessionDetail } from "../../api/sessions";
import { plural } from "../../model/format";
import { AttributeTable } from "../../parts/AttributeTable";
import { TraceLink } from "../../parts/occurrenceColumns";

/** Links that are shown. */
const TRACES_MAX = 50;

export function Details({ detail }: { detail: SessionDetail }) {
  const { session, linkedTraceIds } = detail;
  const hidden = linkedTraceIds.length - TRACES_MAX;
  return (
    <div className="h-full space-y-4 overflow-y-auto p-3">
      {linkedTraceIds.length > 0 && (
        <section aria-label="Traces of the session">
          <h3 className="mb-1 font-medium">{plural(linkedTraceIds.length, "trace")} of this session</h3>
          <ul className="text-dense">
            {linkedTraceIds.slice(0, TRACES_MAX).map((traceId) => (
              <li key={traceId} className="flex min-w-0 items-center gap-1.5 py-0.5">
                <Waypoints size={13} aria-hidden className="shrink-0 text-ink2" />
                <TraceLink traceId={traceId} at={session.startedAt} className="link truncate font-mono">
                  {traceId}
                </TraceLink>
              </li>
            ))}
          </ul>
          {hidden > 0 && <p className="text-dense text-ink2">{plural(hidden, "more trace")} not shown.</p>}
        </section>
      )}
      <AttributeTable
        attributes={session.attributes}
        label="Attributes of the session"
        empty="The session carries no attributes."
      />
    </div>
  );
}
