// The spans of a trace as a table. Only rows in sight are rendered.
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp, CircleAlert } from "lucide-react";
import { useMemo, useRef } from "react";
import type { CriticalPath } from "../../model/critical-path";
import { ownMs } from "../../model/critical-path";
import { durationMs, NONE, percent, plural } from "../../model/format";
import { parseSort, sortText } from "../../model/search";
import type { TraceSearch } from "../../model/telemetry-search";
import { type SpanOrder, sortedSpans } from "../../model/trace-parts";
import type { Span } from "../../model/types";
import type { Trace } from "../../model/waterfall";
import { spanKind } from "../../model/words";
import { ServiceName } from "../../parts/ServiceName";
import { Empty } from "../../parts/states";
import { SearchLink } from "../../ui/SearchLink";

const ROW = 30;
const ORDERS: SpanOrder[] = ["own", "duration", "start", "name", "service"];
const GRID =
  "grid grid-cols-[minmax(0,1fr)_140px_80px_92px_72px_92px_96px_92px] max-lg:grid-cols-[minmax(0,1fr)_92px_92px] items-center gap-x-2 px-4";
const WIDE = "max-lg:hidden";
const HEADS: { label: string; order?: SpanOrder; num?: boolean; className?: string }[] = [
  { label: "Span", order: "name" },
  { label: "Service", order: "service", className: WIDE },
  { label: "Kind", className: WIDE },
  { label: "Own time", order: "own", num: true },
  { label: "Share", num: true, className: WIDE },
  { label: "Duration", order: "duration", num: true },
  { label: "Critical path", num: true, className: WIDE },
  { label: "Started", order: "start", num: true, className: WIDE },
];

export function TraceSpans({ trace, path, search }: { trace: Trace<Span>; path: CriticalPath; search: TraceSearch }) {
  const scroller = useRef<HTMLDivElement>(null);
  const sort = parseSort<SpanOrder>(search.sort, ORDERS, { by: "own", desc: true });
  const rows = useMemo(
    () => sortedSpans(trace, { by: sort.by, desc: sort.desc }, search.q),
    [trace, sort.by, sort.desc, search.q],
  );
  const all = useMemo(() => trace.nodes.reduce((sum, node) => sum + node.selfMs, 0), [trace]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 16,
  });
  if (!rows.length) return <Empty title="No span matches">Clear the filter of the waterfall.</Empty>;
  return (
    <div
      ref={scroller}
      role="table"
      aria-label={`Spans, ${plural(rows.length, "span")}`}
      aria-rowcount={rows.length + 1}
      // Deliberate: a scroll container must be reachable by keyboard
      tabIndex={0}
      className="min-h-0 flex-1 overflow-auto"
    >
      <div role="rowgroup" className="sticky top-0 z-10 border-line border-b bg-bg">
        <div role="row" aria-rowindex={1} className={`${GRID} h-8 font-medium text-ink2 text-caption`}>
          {HEADS.map((head) => {
            const on = head.order && sort.by === head.order;
            const Arrow = on && !sort.desc ? ArrowUp : ArrowDown;
            const isText = head.order === "name" || head.order === "service" || head.order === "start";
            return (
              <span
                key={head.label}
                role="columnheader"
                aria-sort={on ? (sort.desc ? "descending" : "ascending") : undefined}
                className={`${head.num ? "text-right" : ""} ${head.className ?? ""}`}
              >
                {head.order ? (
                  <SearchLink
                    change={{ sort: sortText({ by: head.order, desc: on ? !sort.desc : !isText }) }}
                    replace
                    className={`inline-flex items-center gap-0.5 rounded hover:text-ink ${on ? "text-ink" : ""}`}
                  >
                    {head.label}
                    <Arrow size={12} aria-hidden className={on ? "" : "opacity-0"} />
                  </SearchLink>
                ) : (
                  head.label
                )}
              </span>
            );
          })}
        </div>
      </div>
      <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const index = rows[item.index];
          const { span, ...node } = trace.nodes[index];
          const onPath = path.own.has(index) ? ownMs(path.own, index) : null;
          return (
            <div
              key={item.key}
              role="row"
              aria-rowindex={item.index + 2}
              className={`${GRID} absolute inset-x-0 border-line/60 border-b text-dense hover:bg-hover`}
              style={{ top: item.start, height: ROW }}
            >
              <span role="cell" className="flex min-w-0 items-center gap-1.5">
                {node.error && <CircleAlert size={13} aria-label="error" className="shrink-0 text-error" />}
                <SearchLink
                  change={{ tab: undefined, sort: undefined, span: span.spanId }}
                  className="link min-w-0 truncate font-mono"
                >
                  {span.name || NONE}
                </SearchLink>
              </span>
              <span role="cell" className={`min-w-0 truncate ${WIDE}`}>
                <ServiceName name={span.serviceName} />
              </span>
              <span role="cell" className={`text-ink2 ${WIDE}`}>
                {spanKind(span.spanKind)}
              </span>
              <span role="cell" className="text-right font-medium tabular-nums">
                {durationMs(node.selfMs)}
              </span>
              <span role="cell" className={`text-right text-ink2 tabular-nums ${WIDE}`}>
                {percent(all ? node.selfMs / all : 0)}
              </span>
              <span role="cell" className="text-right tabular-nums">
                {durationMs(node.durationMs)}
              </span>
              <span role="cell" className={`text-right text-ink2 tabular-nums ${WIDE}`}>
                {onPath === null ? NONE : durationMs(onPath)}
              </span>
              <span role="cell" className={`text-right text-ink2 tabular-nums ${WIDE}`}>
                +{durationMs(node.startMs)}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
