// A flame graph on canvas: only boxes in sight are drawn. Click or Enter zooms in; arrow keys move between functions.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { type FlameBox, type FlameTree, flameBoxes, leftEdges } from "../model/flame-tree";
import { cssColour, useTheme } from "../ui/theme";
import { slotVariable } from "./palette";
import { useWidth } from "./useWidth";

const ROW = 19;
const VIEW_ROWS_MAX = 34;
const FONT = '11px "JetBrains Mono Variable", ui-monospace, monospace';

interface Props {
  /** Name of the graph for screen readers. */
  label: string;
  tree: FlameTree;
  /** Colour slot of each name, 0 to 7; others are grey. */
  slots: number[];
  /** Change of each node's share, -1 to 1; absent outside of a comparison. */
  change?: (node: number) => number;
  /** Functions to highlight. */
  matches?: (name: string) => boolean;
  /** Text about a node, for the line above the graph. */
  describe: (node: number) => string;
  /** Called with the node under the pointer or the keyboard's cursor. */
  onCurrent: (node: number | null) => void;
  /** Called with a node that was double-clicked, or chosen with the space bar. */
  onOpen?: (node: number) => void;
}

export function FlameCanvas({ label, tree, slots, change, matches, describe, onCurrent, onOpen }: Props) {
  const [box, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const [focus, setFocus] = useState(0);
  const [current, setCurrent] = useState<number | null>(null);
  const [top, setTop] = useState(0);
  const left = useMemo(() => leftEdges(tree), [tree]);
  // Another tree begins at its root.
  const [seen, setSeen] = useState(tree);
  if (seen !== tree) {
    setSeen(tree);
    setFocus(0);
    setCurrent(null);
  }
  const zoomed = seen === tree ? focus : 0;
  const boxes = useMemo(() => flameBoxes(tree, left, zoomed, width), [tree, left, zoomed, width]);
  const rows = useMemo(() => byLevel(boxes), [boxes]);
  const height = Math.min(rows.length, VIEW_ROWS_MAX) * ROW;
  const hits = useMemo(() => (matches ? tree.names.map(matches) : null), [tree, matches]);

  const select = (node: number | null) => {
    setCurrent(node);
    onCurrent(node);
  };
  const zoom = (node: number) => {
    setFocus(node);
    select(node);
  };

  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context || !canvas.current || width === 0 || height === 0) return;
    const ratio = devicePixelRatio || 1;
    canvas.current.width = Math.round(width * ratio);
    canvas.current.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = FONT;
    context.textBaseline = "middle";
    const letter = context.measureText("m").width;
    const ink = cssColour("--ink");
    const colours = colourOf(theme);
    const first = Math.floor(top / ROW);
    for (let level = first; level < Math.min(rows.length, first + VIEW_ROWS_MAX + 1); level++) {
      for (const one of rows[level] ?? []) {
        const name = tree.name[one.node] ?? 0;
        const y = level * ROW - top;
        const dim = hits !== null && !hits[name];
        const { colour, strength } =
          change === undefined
            ? {
                colour: colours(slotVariable(slots[name] ?? -1)),
                strength: one.node === 0 ? 0.16 : 0.34,
              }
            : changeColour(change(one.node), colours);
        context.globalAlpha = dim ? strength * 0.3 : hits ? Math.min(1, strength * 1.5) : strength;
        context.fillStyle = colour;
        const gap = one.width > 3 ? 1 : 0;
        context.fillRect(one.x, y, one.width - gap, ROW - 1);
        const letters = Math.floor((one.width - 7) / letter);
        if (one.count === 1 && letters > 2) {
          context.globalAlpha = dim ? 0.55 : 1;
          context.fillStyle = ink;
          context.fillText(shortened(tree.names[name] ?? "", letters), one.x + 4, y + ROW / 2);
        }
        if (one.node === current) {
          context.globalAlpha = 1;
          context.strokeStyle = colours("--accent");
          context.lineWidth = 2;
          context.strokeRect(one.x + 1, y + 1, Math.max(1, one.width - 2 - gap), ROW - 3);
        }
      }
    }
    context.globalAlpha = 1;
  }, [tree, slots, change, hits, rows, width, height, top, current, theme]);

  const boxAt = (event: { clientX: number; clientY: number }): FlameBox | undefined => {
    const at = canvas.current?.getBoundingClientRect();
    if (!at) return undefined;
    const x = event.clientX - at.left;
    return rows[Math.floor((event.clientY - at.top + top) / ROW)]?.find((one) => x >= one.x && x < one.x + one.width);
  };

  // A wheel with Ctrl or Meta zooms; React's wheel listeners cannot prevent the page's own zoom.
  const live = useRef({ boxAt, zoom, zoomed, tree });
  live.current = { boxAt, zoom, zoomed, tree };
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { boxAt: find, zoom: to, zoomed: from, tree: of } = live.current;
      const under = find(event)?.node;
      if (event.deltaY > 0) to(Math.max(0, of.parent[from] ?? 0));
      else if (under !== undefined) to(towards(of, from, under));
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, [box]);

  const onKey = (event: React.KeyboardEvent) => {
    const at = current ?? zoomed;
    const moved = neighbour(tree, at, event.key);
    if (moved !== undefined) select(moved);
    else if (event.key === "Enter") zoom(at);
    else if (event.key === " ") onOpen?.(at);
    else if (event.key === "Escape" && zoomed > 0) zoom(0);
    else return;
    event.preventDefault();
  };

  return (
    <div
      ref={box}
      className="relative overflow-y-auto overflow-x-hidden rounded-control outline-offset-2"
      style={{ maxHeight: VIEW_ROWS_MAX * ROW }}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div style={{ height: rows.length * ROW }}>
        <canvas
          ref={canvas}
          role="application"
          aria-label={`${label}. Arrow keys move between functions, Enter zooms in, Escape shows everything, the space bar opens the function.`}
          tabIndex={0}
          data-flame
          className="sticky top-0 block cursor-pointer"
          style={{ width: "100%", height }}
          onPointerMove={(event) => select(boxAt(event)?.node ?? null)}
          onPointerLeave={() => select(null)}
          onClick={(event) => {
            const under = boxAt(event);
            if (under) zoom(under.node);
          }}
          onDoubleClick={(event) => {
            const under = boxAt(event);
            if (under) onOpen?.(under.node);
          }}
          onKeyDown={onKey}
        />
      </div>
      <span role="status" className="sr-only">
        {current === null ? "" : describe(current)}
      </span>
    </div>
  );
}

function byLevel(boxes: FlameBox[]): FlameBox[][] {
  const rows: FlameBox[][] = [];
  for (const one of boxes) {
    while (rows.length <= one.level) rows.push([]);
    rows[one.level]?.push(one);
  }
  return rows;
}

/** The node next to another: the parent, the first child, or a neighbour with the same parent. */
function neighbour(tree: FlameTree, node: number, key: string): number | undefined {
  const parent = tree.parent[node] ?? -1;
  if (key === "ArrowUp") return parent >= 0 ? parent : undefined;
  if (key === "ArrowDown") return (tree.level[node + 1] ?? 0) > (tree.level[node] ?? 0) ? node + 1 : undefined;
  const end = tree.end[node] ?? 0;
  if (key === "ArrowRight") return tree.parent[end] === parent && parent >= 0 ? end : undefined;
  if (key !== "ArrowLeft" || parent < 0) return undefined;
  let before: number | undefined;
  for (let at = parent + 1; at < node; at = tree.end[at] as number) before = at;
  return before;
}

/** The child of `from` on the way to `to`; `to` itself when it is not below. */
function towards(tree: FlameTree, from: number, to: number): number {
  let at = to;
  while (at > 0 && tree.parent[at] !== from) at = tree.parent[at] as number;
  return at > 0 ? at : to;
}

/** The end of a name says more than its beginning, which is the package. */
function shortened(name: string, letters: number): string {
  if (name.length <= letters) return name;
  const last = name.slice(name.lastIndexOf("/") + 1);
  return last.length <= letters ? last : `${last.slice(0, letters - 1)}…`;
}

function colourOf(_theme: string): (variable: string) => string {
  const known = new Map<string, string>();
  return (variable) => {
    const colour = known.get(variable) ?? cssColour(variable);
    known.set(variable, colour);
    return colour;
  };
}

/** Red for a greater share than in the baseline, blue for a smaller one; a change of 5 points has the full colour. */
function changeColour(change: number, colours: (variable: string) => string): { colour: string; strength: number } {
  if (Math.abs(change) < 0.0005) return { colour: colours("--c-other"), strength: 0.16 };
  const strength = 0.14 + 0.6 * Math.min(1, Math.abs(change) / 0.05);
  return { colour: colours(change > 0 ? "--error" : "--accent"), strength };
}
