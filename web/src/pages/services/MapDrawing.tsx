// The drawing of the map: layers of nodes, edges as wide as their calls and coloured by their errors. The region
// scrolls; drag, buttons, +, - and 0 move and zoom it. The table below it has the same data.
import { Link } from "@tanstack/react-router";
import { Database, Globe, type LucideIcon, Mail, Maximize, Minus, Plus, Server } from "lucide-react";
import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from "react";
import { useProjectId } from "../../api/hooks";
import { durationNs, percent } from "../../model/format";
import { termOf } from "../../model/query";
import {
  edgeSearch,
  edgeWidth,
  edgeWords,
  errorLevel,
  errorRate,
  KIND_WORDS,
  layOut,
  type MapEdge,
  type MapNode,
  type NodeKind,
  perMinute,
  shown,
} from "../../model/service-map";
import type { ServiceMap } from "../../model/types";
import { slotColour } from "../../viz/palette";
import { useServiceColours } from "../../viz/useServiceColours";
import { useWidth } from "../../viz/useWidth";

const BOX = { width: 220, height: 56 };
const STEP = { x: 316, y: 84 };
const PAD = 24;
const SCALES = { least: 0.25, most: 2, step: 1.25 };
const HEIGHT_MAX = 560;

const ICONS: Record<NodeKind, LucideIcon> = { service: Server, database: Database, messaging: Mail, host: Globe };
const LEVEL_COLOURS = { ok: "var(--control)", warn: "var(--warn)", error: "var(--error)" };

interface Point {
  x: number;
  y: number;
}

export function MapDrawing({ map, label, centre }: { map: ServiceMap; label: string; centre?: string }) {
  const marker = useId();
  const { nodes, edges } = map;
  const { place, size } = useMemo(() => places(nodes, edges), [nodes, edges]);
  const byId = useMemo(() => new Map(nodes.map((node) => [node.id, node])), [nodes]);
  const colourOf = useServiceColours(nodes.filter((node) => node.kind === "service").map((node) => node.name));
  const most = Math.max(1, ...edges.map((edge) => edge.stats.calls));
  const [box, width] = useWidth<HTMLDivElement>();
  const fit = Math.min(1, Math.max(SCALES.least, width ? (width - 2) / size.width : 1));
  const [chosen, setScale] = useState<number | null>(null);
  const scale = chosen ?? fit;
  const zoom = (by: number) => setScale(Math.min(SCALES.most, Math.max(SCALES.least, scale * by)));
  const live = useRef(zoom);
  live.current = zoom;
  useEffect(() => {
    const element = box.current;
    // React listens passively, and the browser would zoom the page.
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      live.current(event.deltaY < 0 ? SCALES.step : 1 / SCALES.step);
    };
    element?.addEventListener("wheel", onWheel, { passive: false });
    return () => element?.removeEventListener("wheel", onWheel);
  }, [box]);
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "+" || event.key === "=") zoom(SCALES.step);
    else if (event.key === "-") zoom(1 / SCALES.step);
    else if (event.key === "0") setScale(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="relative">
      {/* Deliberate: a scroll container must be reachable by keyboard */}
      <div
        ref={box}
        role="region"
        aria-label={label}
        tabIndex={0}
        className="cursor-grab overflow-auto active:cursor-grabbing"
        style={{ maxHeight: HEIGHT_MAX }}
        onKeyDown={onKey}
        {...dragging()}
      >
        <svg
          width={size.width * scale}
          height={size.height * scale}
          viewBox={`0 0 ${size.width} ${size.height}`}
          role="group"
          aria-label={`${label}, drawing`}
          className="mx-auto block select-none"
        >
          <defs>
            {(["ok", "warn", "error"] as const).map((level) => (
              <marker
                key={level}
                id={`${marker}-${level}`}
                viewBox="0 0 8 8"
                refX="7"
                refY="4"
                markerWidth="9"
                markerHeight="9"
                markerUnits="userSpaceOnUse"
                orient="auto"
              >
                <path d="M0 0 8 4 0 8z" fill={LEVEL_COLOURS[level]} />
              </marker>
            ))}
          </defs>
          {edges.map((edge) => {
            const [from, to] = [byId.get(edge.from), byId.get(edge.to)];
            const [start, end] = [place.get(edge.from), place.get(edge.to)];
            if (!from || !to || !start || !end) return null;
            return (
              <Edge
                key={`${edge.from}\n${edge.to}`}
                from={from}
                to={to}
                stats={edge.stats}
                line={curve(start, end)}
                width={edgeWidth(edge.stats.calls, most)}
                marker={marker}
              />
            );
          })}
          {nodes.map((node) => (
            <Box
              key={node.id}
              node={node}
              at={place.get(node.id) ?? { x: 0, y: 0 }}
              colour={node.kind === "service" ? slotColour(colourOf(node.name)) : "var(--control)"}
              isCentre={node.kind === "service" && node.name === centre}
            />
          ))}
        </svg>
      </div>
      <div className="absolute right-2 bottom-2 flex gap-1">
        <Button label="Zoom in" onClick={() => zoom(SCALES.step)}>
          <Plus size={14} aria-hidden />
        </Button>
        <Button label="Zoom out" onClick={() => zoom(1 / SCALES.step)}>
          <Minus size={14} aria-hidden />
        </Button>
        <Button label="Show the whole width" onClick={() => setScale(null)}>
          <Maximize size={14} aria-hidden />
        </Button>
      </div>
    </div>
  );
}

function Button({ label, onClick, children }: { label: string; onClick: () => void; children: ReactNode }) {
  return (
    <button type="button" className="btn btn-icon bg-raise!" aria-label={label} title={label} onClick={onClick}>
      {children}
    </button>
  );
}

/** Moves the region with the mouse. A press on a link is left alone; touch scrolls by itself. */
function dragging() {
  let last: Point | null = null;
  return {
    onPointerDown: (event: PointerEvent<HTMLDivElement>) => {
      if (event.pointerType !== "mouse" || event.button !== 0 || (event.target as Element).closest("a")) return;
      last = { x: event.clientX, y: event.clientY };
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove: (event: PointerEvent<HTMLDivElement>) => {
      if (!last) return;
      event.currentTarget.scrollLeft -= event.clientX - last.x;
      event.currentTarget.scrollTop -= event.clientY - last.y;
      last = { x: event.clientX, y: event.clientY };
    },
    onPointerUp: () => {
      last = null;
    },
    onPointerCancel: () => {
      last = null;
    },
  };
}

/** Upper left corners of the nodes, and the size of the drawing. Short columns are centred. */
function places(nodes: MapNode[], edges: MapEdge[]) {
  const laidOut = layOut(nodes, edges);
  const all = [...laidOut.values()];
  const rows = Math.max(0, ...all.map((at) => at.row)) + 1;
  const columns = Math.max(0, ...all.map((at) => at.column)) + 1;
  const heights = new Map<number, number>();
  for (const { column, row } of all) heights.set(column, Math.max(heights.get(column) ?? 0, row + 1));
  const place = new Map<string, Point>();
  for (const [id, { column, row }] of laidOut) {
    const above = (rows - (heights.get(column) ?? rows)) / 2;
    place.set(id, { x: PAD + column * STEP.x, y: PAD + (row + above) * STEP.y });
  }
  const size = {
    width: 2 * PAD + (columns - 1) * STEP.x + BOX.width,
    height: 2 * PAD + (rows - 1) * STEP.y + BOX.height + PAD,
  };
  return { place, size };
}

/** The path of an edge: to the right between the boxes, back below them. */
function curve(from: Point, to: Point): string {
  const middle = BOX.height / 2;
  if (to.x > from.x) {
    const [x1, y1, x2, y2] = [from.x + BOX.width, from.y + middle, to.x - 2, to.y + middle];
    const bend = Math.max(30, (x2 - x1) / 2);
    return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  }
  const [x1, y1, x2, y2] = [from.x + BOX.width / 2, from.y + BOX.height, to.x + BOX.width / 2, to.y + BOX.height + 2];
  const low = Math.max(y1, y2) + 30;
  return `M${x1} ${y1}C${x1} ${low} ${x2} ${low} ${x2} ${y2}`;
}

interface EdgeProps {
  from: MapNode;
  to: MapNode;
  stats: MapEdge["stats"];
  line: string;
  width: number;
  marker: string;
}

/** Leads to the traces with such calls. By keyboard, the table of calls does. */
function Edge({ from, to, stats, line, width, marker }: EdgeProps) {
  const pid = useProjectId();
  const words = edgeWords(from, to, stats);
  const level = errorLevel(stats);
  return (
    <Link
      to="/p/$pid/traces"
      params={{ pid }}
      search={{ q: edgeSearch(from, to) } as never}
      tabIndex={-1}
      aria-label={words}
      preload={false}
      className="map-edge"
    >
      <title>{words}</title>
      <path d={line} fill="none" stroke="transparent" strokeWidth={Math.max(14, width)} />
      <path
        d={line}
        fill="none"
        stroke={LEVEL_COLOURS[level]}
        strokeWidth={width}
        strokeDasharray={level === "error" ? "7 4" : undefined}
        markerEnd={`url(#${marker}-${level})`}
      />
    </Link>
  );
}

function Box({ node, at, colour, isCentre }: { node: MapNode; at: Point; colour: string; isCentre: boolean }) {
  const Icon = ICONS[node.kind];
  const level = errorLevel(node.stats);
  const words = `${KIND_WORDS[node.kind]} ${shown(node)}: ${perMinute(node.stats)}, ${percent(errorRate(node.stats))} errors`;
  const second = node.stats.calls
    ? `${perMinute(node.stats)}, p95 ${durationNs(node.stats.p95Duration)}`
    : node.kind === "service"
      ? "serves no calls"
      : "";
  const drawing = (
    <g>
      <rect
        width={BOX.width}
        height={BOX.height}
        rx={6}
        fill="var(--panel)"
        stroke={isCentre ? "var(--accent)" : level === "ok" ? "var(--control)" : LEVEL_COLOURS[level]}
        strokeWidth={isCentre ? 2 : 1}
      />
      <rect width={4} height={BOX.height} rx={2} fill={colour} />
      <Icon x={13} y={11} width={15} height={15} color="var(--ink-2)" aria-hidden />
      <text x={34} y={23} fontSize={13} fontWeight={600} fill="var(--ink)">
        {shortened(shown(node))}
      </text>
      <text x={14} y={43} fontSize={11} fill="var(--ink-2)">
        {second}
      </text>
      {node.stats.errors > 0 && (
        <text x={BOX.width - 10} y={43} fontSize={11} textAnchor="end" fill={LEVEL_COLOURS[level]}>
          {percent(errorRate(node.stats))} failed
        </text>
      )}
    </g>
  );
  return (
    <g transform={`translate(${at.x} ${at.y})`}>
      <title>{words}</title>
      <NodeLink node={node} className="map-node">
        {drawing}
      </NodeLink>
    </g>
  );
}

interface NodeLinkProps {
  node: Pick<MapNode, "kind" | "name">;
  className?: string;
  children: ReactNode;
}

/** To the page of a service, or to the spans that call another node. Spans without service name have no page. */
export function NodeLink({ node, className, children }: NodeLinkProps) {
  const pid = useProjectId();
  if (node.kind !== "service")
    return (
      <Link
        to="/p/$pid/traces"
        params={{ pid }}
        search={{ q: termOf("peer", node.name), all: true } as never}
        preload={false}
        className={className}
      >
        {children}
      </Link>
    );
  if (!node.name) return <>{children}</>;
  return (
    <Link to="/p/$pid/services/$name" params={{ pid, name: node.name }} preload={false} className={className}>
      {children}
    </Link>
  );
}

/** As many letters as the box has place for. */
function shortened(name: string): string {
  const letters = [...name];
  return letters.length > 21 ? `${letters.slice(0, 20).join("")}…` : name;
}
