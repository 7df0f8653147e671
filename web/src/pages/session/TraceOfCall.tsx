// The way from a request of the browser to its trace on the server.
import { Link } from "@tanstack/react-router";
import { Waypoints } from "lucide-react";
import { useProjectId } from "../../api/hooks";
import type { NetworkCall } from "../../model/replay/segment";
import { traceSearch } from "../../model/replay/session";
import { isoFromMs } from "../../model/time";
import { asTraceId } from "../../model/traceid";
import { TraceLink } from "../../parts/occurrenceColumns";
import type { ErrorAt } from "./Errors";

const LOOK = "btn btn-ghost btn-icon mt-0.5 mr-1 h-6! w-6! shrink-0";

/** The trace that the request names, that of an error during the request, or a search for it. */
export function TraceOfCall({ call, errors }: { call: NetworkCall; errors: ErrorAt[] }) {
  const pid = useProjectId();
  const end = call.at + (call.durationMs ?? 0);
  const during = errors.find((one) => one.traceId && call.at <= one.at && one.at <= end);
  const traceId = asTraceId(call.traceId) ?? during?.traceId;
  if (traceId)
    return (
      <TraceLink traceId={traceId} at={isoFromMs(call.at)} className={LOOK}>
        <Waypoints size={13} aria-label="Open the trace of this request" />
      </TraceLink>
    );
  return (
    <Link to="/p/$pid/traces" params={{ pid }} search={traceSearch(call)} className={LOOK}>
      <Waypoints size={13} aria-label="Find this request in Traces" className="text-ink2" />
    </Link>
  );
}
