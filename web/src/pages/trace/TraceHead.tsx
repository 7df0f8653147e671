import { Link } from "@tanstack/react-router";
import { Info } from "lucide-react";
import { useProjectId } from "../../api/hooks";
import { type CriticalPath, ownMs } from "../../model/critical-path";
import { brief, count, durationMs, percent, plural } from "../../model/format";
import { exactTime } from "../../model/time";
import type { Span, TraceColumns } from "../../model/types";
import type { Trace } from "../../model/waterfall";
import { graphSentence } from "../../model/words";
import { CopyButton } from "../../ui/Copy";
import { SearchLink } from "../../ui/SearchLink";
import { useTitle } from "../../ui/theme";
import { slotColour } from "../../viz/palette";
import { useServiceColours } from "../../viz/useServiceColours";

/** Spans of one part of a large trace. */
const WINDOW = 20_000;

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
export function TraceHead({ answer, trace, path }: { answer: TraceColumns; trace: Trace<Span>; path: CriticalPath }) {
  const colourOf = useServiceColours(trace.services.map((service) => service.name));
  const root = trace.nodes[0]?.span;
  const title = root?.name ?? "Trace";
  useTitle(title);
  const notice = graphSentence(answer.spanGraphStatus);
  const projects = answer.projects.length;
  const { total, shown } = answer.spanGraphStatus;
  return (
    <header className="px-4 pt-3 pb-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h1 tabIndex={-1} title={title} className="font-mono font-semibold text-section [overflow-wrap:anywhere]">
          {brief(title, 300)}
        </h1>
        <span className="inline-flex items-center gap-1 font-mono text-dense text-ink2">
          {answer.traceId.slice(0, 16)}
          <CopyButton text={answer.traceId} label="Copy the trace id" />
        </span>
      </div>
      <p className="mt-0.5 flex flex-wrap gap-x-3 text-ink2">
        <span className="font-semibold text-ink">{durationMs(trace.totalMs)}</span>
        <span>{plural(total, "span")}</span>
        <span>{plural(trace.services.length, "service")}</span>
        {answer.errors > 0 && <span className="text-error">{plural(answer.errors, "error")}</span>}
        {projects > 1 && <span>{count(projects)} projects</span>}
        {root && <span>{exactTime(root.startTime)}</span>}
      </p>
      <Worst trace={trace} path={path} isWindow={shown < total} />
      <LinkedTraces ids={answer.linkedTraceIds} />
      {shown < total && <Windows answer={answer} />}
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
            {brief(service.name, 40) || "no service name"}
            <span className="text-ink2">{percent(service.share)}</span>
          </li>
        ))}
        {trace.services.length > 12 && <li className="text-ink2">and {trace.services.length - 12} more</li>}
      </ul>
      <Operations answer={answer} />
    </header>
  );
}

/** The span with the most own time on the critical path. */
function Worst({ trace, path, isWindow }: { trace: Trace<Span>; path: CriticalPath; isWindow: boolean }) {
  const worst = trace.nodes[path.worst];
  if (!worst || trace.nodes.length < 2) return null;
  const ms = ownMs(path.own, path.worst);
  return (
    <p className="mt-0.5 text-ink2">
      Most of the time{isWindow ? " of the shown spans" : ""}:{" "}
      <SearchLink
        change={{ tab: undefined, span: worst.span.spanId }}
        className="link font-mono text-dense [overflow-wrap:anywhere]"
      >
        {brief(worst.span.name)}
      </SearchLink>
      {worst.span.serviceName && ` of ${brief(worst.span.serviceName, 40)}`}, {durationMs(ms)} on the critical path (
      {percent(path.totalMs ? ms / path.totalMs : 0)})
    </p>
  );
}

/** Links to the parts of a trace that is shown in windows. */
function Windows({ answer }: { answer: TraceColumns }) {
  const { total, shown } = answer.spanGraphStatus;
  const from = answer.offset;
  const change = (offset: number) => ({ offset: offset || undefined, span: undefined, tab: undefined });
  return (
    <nav aria-label="Parts of the trace" className="mt-2 flex flex-wrap items-center gap-2">
      {from > 0 && (
        <SearchLink change={change(Math.max(0, from - WINDOW))} className="btn">
          Earlier spans
        </SearchLink>
      )}
      <span>
        Spans {count(from + 1)} to {count(from + shown)} of {count(total)}
      </span>
      {from + shown < total && (
        <SearchLink change={change(from + shown)} className="btn">
          Further spans
        </SearchLink>
      )}
    </nav>
  );
}

function Operations({ answer }: { answer: TraceColumns }) {
  const all = answer.timeByService.reduce((sum, one) => sum + one.own, 0);
  const shown = answer.timeByOperation.slice(0, 12);
  if (shown.length < 2) return null;
  return (
    <details className="mt-1 text-dense">
      <summary className="w-fit cursor-pointer text-ink2">Time by operation</summary>
      <ol aria-label="Time by operation" className="mt-1 max-w-3xl">
        {shown.map((one) => (
          <li key={`${one.service} ${one.operation}`} className="relative flex gap-3 px-1 py-0.5">
            <span
              aria-hidden
              className="absolute inset-y-0 left-0 rounded bg-accentsoft"
              style={{ width: `${all ? (one.own / all) * 100 : 0}%` }}
            />
            <span className="relative min-w-0 flex-1 truncate">
              <span className="font-mono">{one.operation}</span> <span className="text-ink2">{one.service}</span>
            </span>
            <span className="relative shrink-0 tabular-nums">
              {durationMs(one.own / 1e6)} ({percent(all ? one.own / all : 0)}), {plural(one.spans, "span")}
            </span>
          </li>
        ))}
      </ol>
    </details>
  );
}
