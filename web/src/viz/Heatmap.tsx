// Counts by time and logarithm of the duration, on one canvas. A box is selected by dragging, or with the keyboard:
// arrows move the cell, Shift and arrows widen the box, Enter selects it, Escape leaves it.
import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from "react";
import { count, durationNs, durationShort, plural } from "../model/format";
import { type Box, heatStep } from "../model/selection";
import { clockMinutes, dateTime } from "../model/time";
import { cssColour, useTheme } from "../ui/theme";
import { FRAME } from "./frame";
import { useWidth } from "./useWidth";

export interface HeatData {
  startMs: number;
  columnMs: number;
  columns: number;
  rows: { fromNs: number; toNs: number }[];
  cells: { column: number; row: number; count: number; errors: number }[];
  marks: { ms: number; version: string }[];
}
interface Props {
  data: HeatData;
  height: number;
  /** The selected box, outlined. */
  box: Box | null;
  onSelect: (box: Box) => void;
}
interface Cell {
  column: number;
  row: number;
}
/** Part of the accent in each of the six steps, percent. */
const STEPS = [16, 32, 48, 65, 82, 100];

export function Heatmap({ data, height, box, onSelect }: Props) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const [lastAt, setAt] = useState<Cell | null>(null);
  const [lastAnchor, setAnchor] = useState<Cell | null>(null);
  const isDragging = useRef(false);
  const plotWidth = Math.max(10, width - FRAME.left - FRAME.right);
  const plotHeight = height - FRAME.top - FRAME.bottom;
  const cellWidth = plotWidth / data.columns;
  const cellHeight = plotHeight / Math.max(1, data.rows.length);
  const counts = new Map(data.cells.map((cell) => [cell.row * data.columns + cell.column, cell]));

  useEffect(() => {
    if (canvas.current && width) draw(canvas.current, data, plotWidth, plotHeight, theme);
  }, [data, plotWidth, plotHeight, width, theme]);

  const clamp = (cell: Cell): Cell => ({
    column: Math.max(0, Math.min(data.columns - 1, cell.column)),
    row: Math.max(0, Math.min(data.rows.length - 1, cell.row)),
  });
  // Other data may have fewer cells than there were when the cell was chosen.
  const inside = (cell: Cell | null) => (cell && data.rows.length ? clamp(cell) : null);
  const at = inside(lastAt);
  const anchor = inside(lastAnchor);
  const cellAt = (event: PointerEvent): Cell => {
    const bounds = event.currentTarget.getBoundingClientRect();
    return clamp({
      column: Math.floor((event.clientX - bounds.left) / cellWidth),
      row: data.rows.length - 1 - Math.floor((event.clientY - bounds.top) / cellHeight),
    });
  };
  const boxOf = (a: Cell, b: Cell): Box => ({
    fromMs: data.startMs + Math.min(a.column, b.column) * data.columnMs,
    toMs: data.startMs + (Math.max(a.column, b.column) + 1) * data.columnMs,
    fromNs: data.rows[Math.min(a.row, b.row)].fromNs,
    toNs: data.rows[Math.max(a.row, b.row)].toNs,
  });
  const rectangle = (one: Box) => {
    const rows = data.rows.flatMap((row, i) => (row.fromNs >= one.fromNs && row.toNs <= one.toNs ? [i] : []));
    if (!rows.length) return null;
    const left = Math.max(0, (one.fromMs - data.startMs) / data.columnMs) * cellWidth;
    const right = Math.min(data.columns, (one.toMs - data.startMs) / data.columnMs) * cellWidth;
    return {
      left,
      width: Math.max(1, right - left),
      top: (data.rows.length - 1 - rows[rows.length - 1]) * cellHeight,
      height: rows.length * cellHeight,
    };
  };
  const moves: Record<string, [number, number]> = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, 1],
    ArrowDown: [0, -1],
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const from = at ?? clamp({ column: data.columns - 1, row: data.rows.length - 1 });
    const move = moves[event.key];
    if (move) {
      event.preventDefault();
      setAnchor(event.shiftKey ? (anchor ?? from) : null);
      setAt(at ? clamp({ column: from.column + move[0], row: from.row + move[1] }) : from);
    } else if (event.key === "Enter" && at) {
      event.preventDefault();
      onSelect(boxOf(anchor ?? at, at));
      setAnchor(null);
    } else if (event.key === "Escape") {
      setAt(null);
      setAnchor(null);
    }
  };
  const current = at && boxOf(anchor ?? at, at);
  const words = (cell: Cell) => {
    const found = counts.get(cell.row * data.columns + cell.column);
    const row = data.rows[cell.row];
    const start = data.startMs + cell.column * data.columnMs;
    const errors = found?.errors ? `, ${count(found.errors)} failed` : "";
    return `${dateTime(start).replace(/:\d\d$/, "")} – ${clockMinutes(start + data.columnMs)}, ${durationNs(row.fromNs)} to ${durationNs(row.toNs)}: ${plural(found?.count ?? 0, "row")}${errors}`;
  };
  const selected = box && rectangle(box);
  const drawn = current && rectangle(current);
  const every = Math.max(1, Math.ceil(data.rows.length / 6));
  const timeTicks = [0, 0.25, 0.5, 0.75].map((part) => Math.floor(part * data.columns));
  return (
    <div ref={ref} className="relative w-full" style={{ height }}>
      {width > 0 && data.rows.length > 0 && (
        <>
          {/* Deliberate: a canvas has no elements of its own that the keyboard could reach. */}
          <div
            role="application"
            aria-label="Cells by time and duration. Arrow keys move, Shift and arrow keys widen the box, Enter explains it."
            tabIndex={0}
            className="absolute cursor-crosshair touch-pan-y outline-offset-2"
            style={{ left: FRAME.left, top: FRAME.top, width: plotWidth, height: plotHeight }}
            onKeyDown={onKeyDown}
            onPointerDown={(event) => {
              if (event.pointerType !== "touch") event.currentTarget.setPointerCapture(event.pointerId);
              isDragging.current = event.pointerType !== "touch";
              setAnchor(cellAt(event));
              setAt(cellAt(event));
            }}
            onPointerMove={(event) => {
              if (!isDragging.current) setAnchor(null);
              setAt(cellAt(event));
            }}
            onPointerUp={(event) => {
              const end = cellAt(event);
              if (anchor) onSelect(boxOf(anchor, end));
              isDragging.current = false;
              setAnchor(null);
            }}
            onPointerLeave={() => {
              if (!isDragging.current) setAt(null);
            }}
            onPointerCancel={() => {
              isDragging.current = false;
              setAnchor(null);
              setAt(null);
            }}
          >
            <canvas ref={canvas} aria-hidden className="block" style={{ width: plotWidth, height: plotHeight }} />
            {data.marks.map((mark) => (
              <span
                key={mark.version}
                aria-hidden
                title={`First seen: ${mark.version}`}
                className="absolute inset-y-0 border-warn border-l border-dashed"
                style={{ left: ((mark.ms - data.startMs) / data.columnMs) * cellWidth }}
              />
            ))}
            {selected && (
              <span
                aria-hidden
                data-selected
                className="pointer-events-none absolute border-2 border-ink"
                style={selected}
              />
            )}
            {drawn && (
              <span aria-hidden className="pointer-events-none absolute border border-ink bg-hover" style={drawn} />
            )}
          </div>
          {data.rows.map((row, i) =>
            i % every === 0 ? (
              <span
                key={row.fromNs}
                aria-hidden
                className="absolute whitespace-nowrap text-caption text-ink2"
                style={{
                  right: width - FRAME.left + 6,
                  top: FRAME.top + (data.rows.length - i) * cellHeight - 14,
                }}
              >
                {durationShort(row.fromNs / 1e6)}
              </span>
            ) : null,
          )}
          {timeTicks.map((column) => (
            <span
              key={column}
              aria-hidden
              className="absolute bottom-0 text-caption text-ink2"
              style={{ left: FRAME.left + column * cellWidth }}
            >
              {clockMinutes(data.startMs + column * data.columnMs)}
            </span>
          ))}
        </>
      )}
      <p
        role="status"
        className={at ? "menu pointer-events-none absolute top-1 right-2 z-10 px-2! py-1! text-dense" : "sr-only"}
      >
        {at ? words(at) : ""}
      </p>
    </div>
  );
}

/** The colours are read from the style sheet, so that the canvas is redrawn when the theme changes. */
function draw(canvas: HTMLCanvasElement, data: HeatData, width: number, height: number, _theme: string) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(ratio, ratio);
  context.clearRect(0, 0, width, height);
  context.fillStyle = cssColour("--c1");
  const greatest = Math.max(...data.cells.map((cell) => cell.count), 1);
  const cellWidth = width / data.columns;
  const cellHeight = height / Math.max(1, data.rows.length);
  for (const cell of data.cells) {
    context.globalAlpha = STEPS[heatStep(cell.count, greatest)] / 100;
    context.fillRect(
      cell.column * cellWidth,
      (data.rows.length - 1 - cell.row) * cellHeight,
      Math.max(1, cellWidth - (cellWidth > 4 ? 0.5 : 0)),
      Math.max(1, cellHeight - (cellHeight > 4 ? 0.5 : 0)),
    );
  }
}
