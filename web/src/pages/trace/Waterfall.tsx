// The virtualised waterfall: only visible rows are rendered. Arrow keys move in the tree, w a s d zoom and pan.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { CriticalPath, Interval } from "../../model/critical-path";
import { plural } from "../../model/format";
import type { TraceSearch } from "../../model/telemetry-search";
import type { Span } from "../../model/types";
import { type Trace, visibleRows } from "../../model/waterfall";
import { Empty } from "../../parts/states";
import { useKeys } from "../../ui/keys";
import { Minimap } from "../../viz/Minimap";
import { useServiceColours } from "../../viz/useServiceColours";
import { useWidth } from "../../viz/useWidth";
import { NAMES_MIN, NameHandle, useNameWidth } from "./NameHandle";
import { Grid, Ruler } from "./Ruler";
import { scaled, useZoom } from "./useZoom";
import { WaterfallBar } from "./WaterfallBar";
import { COLUMNS, ROW_HEIGHT, TIMES, WaterfallRow } from "./WaterfallRow";

interface Props {
  trace: Trace<Span>;
  path: CriticalPath;
  /** Whether the critical path is shown initially. */
  isPathShown: boolean;
  search: TraceSearch;
  onSelect: (spanId: string | undefined) => void;
  /** Called when the user opens a span, not when the selection moves. */
  onOpen: () => void;
}

export function Waterfall({ trace, path, isPathShown, search, onSelect, onOpen }: Props) {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string>>(new Set());
  const [dim, setDim] = useState(false);
  const [critical, setCritical] = useState(isPathShown);
  const [zoom, setZoom] = useZoom(search.z, trace.totalMs);
  const [wanted, setNames] = useNameWidth();
  const [frame, width] = useWidth<HTMLDivElement>();
  // The name column takes at most 42 % of the width, so that bars are visible beside the drawer.
  const names = width ? Math.min(wanted, Math.max(NAMES_MIN, width * 0.42)) : wanted;
  const bars = Math.max(0, width - names - (width && innerWidth < 640 ? 64 : 144));
  const scroller = useRef<HTMLDivElement>(null);
  const selected = search.span ? (trace.indexOf.get(search.span) ?? -1) : -1;
  const view = useMemo(
    () =>
      visibleRows(trace, {
        collapsed,
        query: (search.q ?? "").toLowerCase(),
        minMs: search.min ?? 0,
        errorsOnly: !!search.errors,
        dim,
      }),
    [trace, collapsed, search.q, search.min, search.errors, dim],
  );
  const colourOf = useServiceColours(trace.services.map((service) => service.name));
  const positions = useMemo(() => new Map(view.rows.map((index, position) => [index, position])), [view.rows]);
  const virtual = useVirtualizer({
    count: view.rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 14,
  });

  const select = useCallback((index: number) => onSelect(trace.nodes[index]?.span.spanId), [onSelect, trace]);
  const open = useCallback(
    (index: number) => {
      select(index);
      onOpen();
    },
    [select, onOpen],
  );
  const toggle = useCallback(
    (index: number) =>
      setCollapsed((old) => {
        const next = new Set(old);
        const id = trace.nodes[index].span.spanId;
        if (!next.delete(id)) next.add(id);
        return next;
      }),
    [trace],
  );
  useReveal(selected, trace, positions, setCollapsed, (position) => virtual.scrollToIndex(position, { align: "auto" }));

  const go = (position: number) => {
    const index = view.rows[Math.max(0, Math.min(view.rows.length - 1, position))];
    if (index !== undefined) select(index);
  };
  const at = positions.get(selected) ?? -1;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const run = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at < 0 ? 0 : at - 1),
      PageDown: () => go(at + 20),
      PageUp: () => go(at - 20),
      Home: () => go(0),
      End: () => go(view.rows.length - 1),
      ArrowLeft: () => left(),
      ArrowRight: () => right(),
      Enter: () => selected >= 0 && onOpen(),
    }[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  };
  const left = () => {
    if (selected < 0) return go(0);
    const node = trace.nodes[selected];
    if (node.childCount && !collapsed.has(node.span.spanId)) toggle(selected);
    else if (node.parent >= 0) select(node.parent);
  };
  const right = () => {
    if (selected < 0) return go(0);
    const node = trace.nodes[selected];
    if (!node.childCount) return;
    if (collapsed.has(node.span.spanId)) toggle(selected);
    else go(at + 1);
  };
  const pan = (part: number) =>
    setZoom({ from: zoom.from + (zoom.to - zoom.from) * part, to: zoom.to + (zoom.to - zoom.from) * part });
  const nextError = () => {
    const next = trace.errors.find((index) => index > selected) ?? trace.errors[0];
    if (next !== undefined) select(next);
  };
  const focusSpan = () => {
    const node = trace.nodes[selected];
    if (node)
      setZoom(scaled({ from: node.startMs, to: node.startMs + Math.max(node.durationMs, trace.totalMs / 1e4) }, 1.1));
  };
  useKeys({
    w: () => setZoom(scaled(zoom, 0.6)),
    s: () => setZoom(scaled(zoom, 1 / 0.6)),
    a: () => pan(-0.25),
    d: () => pan(0.25),
    "0": () => setZoom({ from: 0, to: trace.totalMs }),
    z: focusSpan,
    "!": nextError,
    "\\": () => setCritical((old) => !old),
    j: () => go(at + 1),
    k: () => go(at < 0 ? 0 : at - 1),
    f: () => document.querySelector<HTMLElement>("main [data-search]")?.focus(),
    Escape: () => {
      onSelect(undefined);
      scroller.current?.focus({ preventScroll: true });
    },
  });
  useWheelZoom(scroller, (factor, part) => setZoom(scaled(zoom, factor, zoom.from + (zoom.to - zoom.from) * part)));

  const collapseAll = () =>
    setCollapsed(
      collapsed.size
        ? new Set()
        : new Set(trace.nodes.filter((node) => node.childCount && node.depth > 0).map((node) => node.span.spanId)),
    );
  return (
    <div
      ref={frame}
      className={`flex min-h-0 flex-1 flex-col ${TIMES}`}
      style={{ "--names": `${names}px` } as CSSProperties}
    >
      <WaterfallBar
        trace={trace}
        search={search}
        matched={view.matched}
        dim={dim}
        onDim={setDim}
        path={path}
        critical={critical}
        onCritical={setCritical}
        onWorst={() => open(path.worst)}
        onCollapse={collapseAll}
        allCollapsed={collapsed.size > 0}
        onNextError={nextError}
        zoomed={zoom.from > 0 || zoom.to < trace.totalMs}
        onReset={() => setZoom({ from: 0, to: trace.totalMs })}
      />
      <div className="px-4 pb-2">
        <Minimap trace={trace} colourOf={colourOf} zoom={zoom} onZoom={setZoom} selected={selected} />
      </div>
      <div className={`relative grid border-line border-y bg-panel ${COLUMNS}`}>
        <div className="px-4 text-[11px] text-ink2 leading-7">Span</div>
        <div className="px-2 text-right text-[11px] text-ink2 leading-7">Duration</div>
        <div className="px-2 text-right text-[11px] text-ink2 leading-7 max-sm:hidden">Own time</div>
        <Ruler zoom={zoom} width={bars} />
        <NameHandle width={names} onWidth={setNames} />
      </div>
      <div
        ref={scroller}
        role="treegrid"
        aria-label={`Waterfall, ${plural(trace.nodes.length, "span")}`}
        aria-rowcount={view.rows.length}
        aria-activedescendant={at >= 0 ? `span-row-${selected}` : undefined}
        tabIndex={0}
        data-landing
        onKeyDown={onKeyDown}
        className="min-h-0 flex-1 overflow-y-auto overflow-x-hidden outline-offset-[-2px]!"
      >
        <div className="relative w-full" style={{ height: Math.max(virtual.getTotalSize(), ROW_HEIGHT) }}>
          <Grid zoom={zoom} width={bars} />
          {virtual.getVirtualItems().map((item) => {
            const index = view.rows[item.index];
            const node = trace.nodes[index];
            return (
              <WaterfallRow
                key={index}
                node={node}
                index={index}
                position={item.index}
                top={item.start}
                colour={colourOf(node.span.serviceName)}
                zoom={zoom}
                collapsed={collapsed.has(node.span.spanId)}
                selected={index === selected}
                dimmed={dim && !view.matches[index]}
                path={critical ? (path.own.get(index) ?? NO_INTERVALS) : undefined}
                href={`?span=${node.span.spanId}`}
                onSelect={open}
                onToggle={toggle}
              />
            );
          })}
        </div>
        {view.rows.length === 0 && (
          <Empty title="No span matches">Loosen the search, the least duration or the errors filter.</Empty>
        )}
      </div>
    </div>
  );
}

/** Value for spans not on the path. One object for all rows, so that memoized rows do not re-render. */
const NO_INTERVALS: Interval[] = [];

/** Expands the ancestors of a span that was selected by a link or a key, and scrolls to it. */
function useReveal(
  selected: number,
  trace: Trace,
  positions: Map<number, number>,
  setCollapsed: (change: (old: ReadonlySet<string>) => ReadonlySet<string>) => void,
  scrollTo: (position: number) => void,
) {
  const shown = useRef(-1);
  useEffect(() => {
    if (selected < 0 || shown.current === selected) return;
    const position = positions.get(selected);
    if (position !== undefined) {
      shown.current = selected;
      scrollTo(position);
      return;
    }
    setCollapsed((old) => {
      const next = new Set(old);
      for (let at = trace.nodes[selected].parent; at >= 0; at = trace.nodes[at].parent)
        next.delete(trace.nodes[at].span.spanId);
      return next.size === old.size ? old : next;
    });
  });
}

/** Ctrl or Cmd with the wheel zooms around the pointer. */
function useWheelZoom(scroller: React.RefObject<HTMLDivElement | null>, zoom: (factor: number, part: number) => void) {
  const latest = useRef(zoom);
  latest.current = zoom;
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const listen = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = element.getBoundingClientRect();
      const style = getComputedStyle(element);
      const before =
        Number.parseFloat(style.getPropertyValue("--names")) + Number.parseFloat(style.getPropertyValue("--times"));
      const part = (event.clientX - box.left - before) / Math.max(1, box.width - before);
      latest.current(event.deltaY > 0 ? 1.25 : 0.8, Math.max(0, Math.min(1, part)));
    };
    element.addEventListener("wheel", listen, { passive: false });
    return () => element.removeEventListener("wheel", listen);
  }, [scroller]);
}
