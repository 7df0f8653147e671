import { Link } from "@tanstack/react-router";
import { Info } from "lucide-react";
import { useProjectId } from "../../api/hooks";
import type { Span, TraceAnswer } from "../../api/types";
import { count, durationMs, percent, plural } from "../../model/format";
import { exactTime } from "../../model/time";
import type { Trace } from "../../model/waterfall";
import { graphSentence } from "../../model/words";
import { CopyButton } from "../../ui/Copy";
import { useTitle } from "../../ui/theme";
import { slotColour } from "../../viz/palette";
import { useServiceColours } from "../../viz/useServiceColours";

/** Links to the traces that a web page and its requests have. */
export function LinkedTraces({ ids }: { ids: string[] }) {
  const pid = useProjectId();
  if (!ids.length) return null;
  return (
    <p className="mt-1 flex flex-wrap gap-x-3 gap-y-1 text-ink2">
      Linked with
      {ids.map((id) => (
        <Link
          key={id}
          to="/p/$pid/traces/$traceId"
          params={{ pid, traceId: id }}
          className="link font-mono text-dense"
          title="The trace of the web page that sent a request of this trace, or of a request of this page"
        >
          trace {id.slice(0, 16)}
        </Link>
      ))}
    </p>
  );
}

/** Name, duration, services and completeness of the trace. */
export function TraceHead({ answer, trace }: { answer: TraceAnswer; trace: Trace<Span> }) {
  const colourOf = useServiceColours(trace.services.map((service) => service.name));
  const root = trace.nodes[0]?.span;
  const title = root?.name ?? "Trace";
  useTitle(title);
  const notice = graphSentence(answer.spanGraphStatus);
  const projects = (answer.projects ?? []).length;
  return (
    <header className="px-4 pt-3 pb-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h1 tabIndex={-1} className="font-mono font-semibold text-section [overflow-wrap:anywhere]">
          {title}
        </h1>
        <span className="inline-flex items-center gap-1 font-mono text-dense text-ink2">
          {answer.traceId.slice(0, 16)}
          <CopyButton text={answer.traceId} label="Copy the trace id" />
        </span>
      </div>
      <p className="mt-0.5 flex flex-wrap gap-x-3 text-ink2">
        <span className="font-semibold text-ink">{durationMs(trace.totalMs)}</span>
        <span>{plural(trace.nodes.length, "span")}</span>
        <span>{plural(trace.services.length, "service")}</span>
        {trace.errors.length > 0 && <span className="text-error">{plural(trace.errors.length, "error")}</span>}
        {projects > 1 && <span>{count(projects)} projects</span>}
        {root && <span>{exactTime(root.startTime)}</span>}
      </p>
      <LinkedTraces ids={answer.linkedTraceIds} />
      {notice && (
        <p className="mt-2 flex items-start gap-2 rounded-control bg-warnsoft px-3 py-1.5">
          <Info size={15} aria-hidden className="mt-0.5 shrink-0 text-warn" />
          {notice}
        </p>
      )}
      <ul aria-label="Time by service" className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-dense">
        {trace.services.slice(0, 12).map((service) => (
          <li
            key={service.name}
            className="inline-flex items-center gap-1.5"
            title={`${plural(service.spans, "span")}, ${durationMs(service.selfMs)} of own time`}
          >
            <span
              aria-hidden
              className="size-2.5 rounded-[2px]"
              data-service={service.name}
              style={{ background: slotColour(colourOf(service.name)) }}
            />
            {service.name || "no service name"}
            <span className="text-ink2">{percent(service.share)}</span>
          </li>
        ))}
        {trace.services.length > 12 && <li className="text-ink2">and {trace.services.length - 12} more</li>}
      </ul>
    </header>
  );
}
