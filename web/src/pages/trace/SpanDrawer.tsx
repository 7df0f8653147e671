// Details of the selected span, beside the waterfall, or over it on phones.
import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import { useEffect, useRef } from "react";
import { useGet, useProjectId } from "../../api/hooks";
import { durationMs, durationNs, NONE, percent } from "../../model/format";
import { exactTime, parseMs } from "../../model/time";
import type { Span, TraceColumns } from "../../model/types";
import type { Node, Trace } from "../../model/waterfall";
import { spanKind } from "../../model/words";
import { AttributeTable } from "../../parts/AttributeTable";
import { NonRootChip } from "../../parts/EntityChips";
import { TraceLink } from "../../parts/occurrenceColumns";
import { StackTrace } from "../../parts/StackTrace";
import { Chip } from "../../ui/Chip";
import { CopyButton } from "../../ui/Copy";
import { EntityLinks } from "./EntityLinks";
import { ProfileLinks } from "./ProfileLinks";

interface Props {
  node: Node<Span>;
  trace: Trace<Span>;
  /** Own time on the critical path in milliseconds; null if the span is not on it. */
  pathMs: number | null;
  answer: TraceColumns;
  onClose: () => void;
}

export function SpanDrawer({ node, trace, pathMs, answer, onClose }: Props) {
  const head = useRef<HTMLElement>(null);
  const full = useGet("/api/spans/{traceId}/{spanId}", {
    path: { traceId: node.span.traceId, spanId: node.span.spanId },
    query: { at: node.span.startTime },
    keep: false,
  });
  const span: Span = { ...node.span, ...(full.data?.spanId === node.span.spanId ? full.data : {}) };
  // Deliberate: another span resets the drawer's scroll position.
  useEffect(() => {
    if (head.current) head.current.scrollTop = 0;
  }, [node.span.spanId]);
  return (
    <aside
      ref={head}
      aria-label={`Span ${span.name}`}
      className="appear w-full shrink-0 overflow-y-auto border-line bg-bg max-lg:fixed max-lg:inset-x-0 max-lg:top-[18dvh] max-lg:bottom-0 max-lg:z-30 max-lg:border-t max-lg:shadow-(--shadow) lg:w-[440px] lg:border-l"
    >
      <div className="sticky top-0 z-10 flex items-start gap-2 border-line border-b bg-bg px-4 py-2.5">
        <div className="min-w-0 flex-1">
          <h2 className="font-mono font-semibold [overflow-wrap:anywhere]">{span.name}</h2>
          <div className="mt-0.5 flex flex-wrap items-center gap-1 text-ink2">
            <span>{span.serviceName || "no service name"}</span>
            <Chip>{spanKind(span.spanKind)}</Chip>
            {node.error && <Chip tone="error">error</Chip>}
            {(span.isEndpoint || span.isTask || span.isAiTrace) && span.parentSpanId && <NonRootChip />}
          </div>
        </div>
        <button type="button" className="btn btn-ghost btn-icon" aria-label="Close the span (Esc)" onClick={onClose}>
          <X size={16} aria-hidden />
        </button>
      </div>
      <div className="space-y-4 px-4 py-3">
        <Facts node={node} trace={trace} span={span} pathMs={pathMs} />
        {span.statusMessage && (
          <p className="rounded-control bg-errorsoft px-3 py-2 text-error [overflow-wrap:anywhere]">
            {span.statusMessage}
          </p>
        )}
        {node.missingParent && (
          <p className="rounded-control bg-warnsoft px-3 py-2 text-warn">
            Its parent {span.parentSpanId} is not stored: not exported yet, dropped or sampled away.
          </p>
        )}
        <EntityLinks
          span={span}
          entities={answer.entities.filter((one) => answer.spans.ids[one.place] === span.spanId)}
        />
        <ProfileLinks span={span} />
        {span.dbStatement && <Block title="Statement" text={span.dbStatement} />}
        <Events span={span} answer={answer} />
        <Group title="Attributes">
          <AttributeTable
            attributes={span.attributes}
            label="Attributes"
            empty={full.isPending ? "Loading…" : "None."}
          />
        </Group>
        {span.links?.length > 0 && (
          <Group title="Links to other traces">
            <ul className="space-y-1">
              {span.links.map((link) => (
                <li key={link.traceId + link.spanId} className="font-mono text-dense">
                  <TraceLink traceId={link.traceId} spanId={link.spanId}>
                    {link.traceId.slice(0, 16)}… / {link.spanId}
                  </TraceLink>
                </li>
              ))}
            </ul>
          </Group>
        )}
        <Group title="Resource">
          <AttributeTable
            attributes={span.resourceAttributes}
            label="Resource"
            empty={full.isPending ? "Loading…" : "None."}
          />
        </Group>
      </div>
    </aside>
  );
}

function Facts({ node, trace, span, pathMs }: Pick<Props, "node" | "trace" | "pathMs"> & { span: Span }) {
  const rows: [string, React.ReactNode][] = [
    [
      "Duration",
      `${durationNs(span.duration)} (${percent(trace.totalMs ? node.durationMs / trace.totalMs : 0)} of the trace)`,
    ],
    ["Own time", node.childCount ? durationMs(node.selfMs) : "all of it"],
    ["Critical path", pathMs === null ? "not on it" : `${durationMs(pathMs)} of own time`],
    ["Started", `${exactTime(span.startTime)} (+${durationMs(node.startMs)})`],
    ["Scope", span.scopeName || NONE],
    ["Span id", <Id key="s" id={span.spanId} label="Copy the span id" />],
    ["Parent", span.parentSpanId ? <Id key="p" id={span.parentSpanId} label="Copy the parent id" /> : "none (root)"],
  ];
  return (
    <dl className="grid grid-cols-[84px_minmax(0,1fr)] gap-y-1">
      {rows.map(([label, value]) => (
        <div key={label} className="contents">
          <dt className="text-ink2">{label}</dt>
          <dd className="[overflow-wrap:anywhere]">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Id({ id, label }: { id: string; label: string }) {
  return (
    <span className="inline-flex items-center gap-1 font-mono text-dense">
      {id} <CopyButton text={id} label={label} />
    </span>
  );
}

function Group({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section>
      <h3 className="mb-1.5 font-semibold">{title}</h3>
      {children}
    </section>
  );
}

function Block({ title, text }: { title: string; text: string }) {
  return (
    <section>
      <div className="flex items-center justify-between">
        <h3 className="font-semibold">{title}</h3>
        <CopyButton text={text} label={`Copy the ${title.toLowerCase()}`} />
      </div>
      <pre className="overflow-x-auto whitespace-pre-wrap rounded-control border border-line bg-panel p-2 font-mono text-dense [overflow-wrap:anywhere]">
        {text}
      </pre>
    </section>
  );
}

function Events({ span, answer }: { span: Span; answer: TraceColumns }) {
  const pid = useProjectId();
  if (!span.events?.length) return null;
  const start = parseMs(span.startTime);
  const hash = answer.exceptions.find((one) => one.spanId === span.spanId)?.exceptionHash;
  return (
    <Group title="Events">
      <ol className="space-y-2">
        {span.events.map((event, i) => {
          const stack = event.attributes["exception.stacktrace"];
          const rest = Object.fromEntries(
            Object.entries(event.attributes).filter(([key]) => key !== "exception.stacktrace"),
          );
          return (
            <li
              key={i}
              className={`rounded-control border p-2 ${event.name === "exception" ? "border-error/40" : "border-line"}`}
            >
              <div className="flex items-baseline justify-between gap-2">
                <span className="font-semibold">{event.name}</span>
                <span className="text-dense text-ink2">+{durationMs(parseMs(event.time) - start)}</span>
              </div>
              {hash && event.name === "exception" && (
                <Link to="/p/$pid/issues/$hash" params={{ pid, hash }} className="link">
                  Open the issue
                </Link>
              )}
              <AttributeTable attributes={rest} label={`Attributes of ${event.name}`} />
              {stack && (
                <details className="mt-1">
                  <summary className="text-ink2">Stack trace</summary>
                  <StackTrace text={stack} />
                </details>
              )}
            </li>
          );
        })}
      </ol>
    </Group>
  );
}
