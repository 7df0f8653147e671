// Traces by start and duration. A box that is drawn, by mouse or by keyboard, filters the list.
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, type PointerEvent, useMemo, useState } from "react";
import { useProjectId } from "../../api/hooks";
import { useRange } from "../../api/range";
import { axisTicks } from "../../model/axis";
import { durationMs, durationRound, plural } from "../../model/format";
import { dateTime, isoFromMs } from "../../model/time";
import {
  type Box,
  countIn,
  durationTicks,
  moved,
  nearest,
  type Points,
  planeOf,
  type Selection,
  sampleWords,
  selected,
  xOf,
  yOf,
} from "../../model/trace-points";
import { ChartFigure } from "../../viz/ChartFigure";
import { FRAME } from "../../viz/frame";
import { useWidth } from "../../viz/useWidth";

const HEIGHT = 150;
/** Steps of the keyboard, as fractions of the plot. */
const STEP = { x: 1 / 40, y: 1 / 20 };
/** Least size of a box in pixels; smaller ones are clicks. */
const DRAG_MIN = 5;
/** Slots of the time axis. */
const SLOTS = 240;

interface Props {
  points: Points;
  onSelect: (selection: Selection) => void;
}

export function TraceScatter({ points, onSelect }: Props) {
  const { span } = useRange();
  const pid = useProjectId();
  const navigate = useNavigate();
  const [frame, width] = useWidth<HTMLDivElement>();
  const [box, setBox] = useState<Box | null>(null);
  const [isDragging, setIsDragging] = useState(false);
  const plane = useMemo(() => planeOf(points, span), [points, span]);
  const size = { width: Math.max(0, width - FRAME.left - FRAME.right), height: HEIGHT };
  const slot = (span.toMs - span.fromMs) / SLOTS;
  const starts = useMemo(() => Array.from({ length: SLOTS }, (_, i) => span.fromMs + i * slot), [span, slot]);
  const failed = points.errors.filter(Boolean).length;

  const placed = (event: PointerEvent<SVGSVGElement>) => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - left - FRAME.left, y: event.clientY - top - FRAME.top };
  };
  const fraction = ({ x, y }: { x: number; y: number }) => ({
    x: Math.min(1, Math.max(0, x / Math.max(1, size.width))),
    y: Math.min(1, Math.max(0, 1 - y / size.height)),
  });
  const take = (wanted: Box) => {
    onSelect(selected(plane, wanted));
    setBox(null);
  };
  const onPointerDown = (event: PointerEvent<SVGSVGElement>) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const { x, y } = fraction(placed(event));
    setBox({ x0: x, x1: x, y0: y, y1: y });
    setIsDragging(true);
  };
  const onPointerMove = (event: PointerEvent<SVGSVGElement>) => {
    if (!isDragging || !box) return;
    const { x, y } = fraction(placed(event));
    setBox({ ...box, x1: x, y1: y });
  };
  const onPointerUp = (event: PointerEvent<SVGSVGElement>) => {
    if (!isDragging || !box) return;
    setIsDragging(false);
    const [dx, dy] = [Math.abs(box.x1 - box.x0) * size.width, Math.abs(box.y1 - box.y0) * size.height];
    if (dx >= DRAG_MIN && dy >= DRAG_MIN) return take(box);
    setBox(null);
    const index = nearest(points, plane, placed(event), size);
    if (index >= 0)
      navigate({
        to: "/p/$pid/traces/$traceId",
        params: { pid, traceId: points.traceIds[index] },
        search: { at: isoFromMs(points.starts[index]) },
      });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, [number, number]> = {
      ArrowLeft: [-STEP.x, 0],
      ArrowRight: [STEP.x, 0],
      ArrowUp: [0, STEP.y],
      ArrowDown: [0, -STEP.y],
    };
    const step = steps[event.key];
    if (step) setBox(moved(box ?? { x0: 0.4, x1: 0.6, y0: 0.5, y1: 1 }, step[0], step[1], event.shiftKey));
    else if (event.key === "Enter" && box) take(box);
    else if (event.key === "Escape" && box) setBox(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const selection = box && selected(plane, box);
  const left = (x: number) => FRAME.left + x * size.width;
  const top = (y: number) => FRAME.top + (1 - y) * size.height;
  return (
    <ChartFigure
      title="Traces by start and duration"
      summary={`${plural(points.starts.length, "trace")}, ${failed} with an error. ${sampleWords(points)}`.trim()}
      legend={[
        { label: "without error", colour: "var(--accent)" },
        { label: "with an error", colour: "var(--error)" },
      ]}
      table={() => ({
        head: ["Start", "Duration", "Error", "Trace"],
        rows: points.starts
          .map((start, i) => [
            dateTime(start),
            durationMs(points.durations[i]),
            points.errors[i] ? "error" : "",
            points.traceIds[i].slice(0, 8),
          ])
          .reverse(),
      })}
    >
      <div ref={frame} className="relative select-none">
        <svg
          role="application"
          tabIndex={0}
          aria-label="Traces by start and duration. Arrow keys move a box, with Shift they resize it, Enter filters the list by it, Escape removes it."
          width={width}
          height={HEIGHT + FRAME.top + FRAME.bottom}
          className="block cursor-crosshair touch-pan-y"
          onPointerDown={onPointerDown}
          onPointerMove={onPointerMove}
          onPointerUp={onPointerUp}
          onPointerCancel={() => {
            setIsDragging(false);
            setBox(null);
          }}
          onKeyDown={onKeyDown}
        >
          <g aria-hidden fontSize={11} fill="var(--ink-2)">
            {durationTicks(plane).map((ms) => (
              <g key={ms}>
                <line
                  x1={FRAME.left}
                  x2={FRAME.left + size.width}
                  y1={top(yOf(plane, ms))}
                  y2={top(yOf(plane, ms))}
                  stroke="var(--line)"
                />
                <text x={FRAME.left - 8} y={top(yOf(plane, ms)) + 4} textAnchor="end">
                  {durationRound(ms)}
                </text>
              </g>
            ))}
            {axisTicks(starts, slot, size.width).map((tick) => (
              <text
                key={tick.index}
                x={left((tick.index + 0.5) / SLOTS)}
                y={HEIGHT + FRAME.top + FRAME.bottom - 6}
                textAnchor="middle"
              >
                {tick.label}
              </text>
            ))}
          </g>
          <g aria-hidden>
            {points.starts.map((start, i) => {
              const [x, y] = [left(xOf(plane, start)), top(yOf(plane, points.durations[i]))];
              // Failed ones differ in shape, not only in colour.
              return points.errors[i] ? (
                <path
                  key={points.traceIds[i]}
                  d={`M${x - 3.5} ${y - 3.5}l7 7m0 -7l-7 7`}
                  stroke="var(--error)"
                  strokeWidth={2}
                />
              ) : (
                <circle key={points.traceIds[i]} cx={x} cy={y} r={2.5} fill="var(--accent)" fillOpacity={0.65} />
              );
            })}
          </g>
          {box && (
            <rect
              data-brush
              x={left(Math.min(box.x0, box.x1))}
              y={top(Math.max(box.y0, box.y1))}
              width={Math.abs(box.x1 - box.x0) * size.width}
              height={Math.abs(box.y1 - box.y0) * size.height}
              fill="var(--accent)"
              fillOpacity={0.15}
              stroke="var(--accent)"
            />
          )}
        </svg>
        <span role="status" className="sr-only">
          {selection && !isDragging ? words(selection, countIn(points, selection)) : ""}
        </span>
      </div>
    </ChartFigure>
  );
}

function words({ span, min, max }: Selection, found: number): string {
  const most = Number.isFinite(max) ? `to ${durationMs(max)}` : "and longer";
  return `${dateTime(span.fromMs)} to ${dateTime(span.toMs)}, ${durationMs(min)} ${most}: ${plural(found, "trace")}`;
}
