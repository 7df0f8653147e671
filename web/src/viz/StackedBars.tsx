// Bars per interval, stacked by series. A bucket without data has no bar, so a gap stays a gap. Drag to zoom.
import { useState } from "react";
import { axisTicks } from "../model/axis";
import { hasValues, niceTicks } from "../model/buckets";
import type { Span } from "../model/range";
import { slotAt, useCursor } from "./cursor";
import { DeployMarks } from "./DeployMarks";
import { FRAME, TICK } from "./frame";
import { HoverBox, NothingMeasured } from "./HoverBox";
import { useWidth } from "./useWidth";

export interface BarSeries {
  label: string;
  colour: string;
  values: (number | null)[];
}
interface Props {
  starts: number[];
  intervalMs: number;
  series: BarSeries[];
  height: number;
  format: (value: number) => string;
  /** Format of the value axis, whose values are round; default `format`. */
  formatTick?: (value: number) => string;
  /** Axis ticks for 0..max; default: round numbers. */
  ticksFor?: (max: number) => number[];
  onZoom?: (span: Span) => void;
  /** Totals of a compared time: a dashed line. */
  before?: (number | null)[];
}

export function StackedBars({ starts, intervalMs, series, height, format, onZoom, before, ...axis }: Props) {
  const { ticksFor = niceTicks, formatTick = format } = axis;
  const [ref, width] = useWidth<HTMLDivElement>();
  const [hover, setHover] = useCursor(starts, intervalMs);
  const [drag, setDrag] = useState<[number, number] | null>(null);
  const isEmpty = !hasValues(series);
  const totals = starts.map((_, i) => series.reduce((sum, one) => sum + (one.values[i] ?? 0), 0));
  const ticks = isEmpty ? [] : ticksFor(Math.max(...totals, ...(before ?? []).map((value) => value ?? 0), 0));
  const top = ticks.at(-1) || 1;
  const plotWidth = Math.max(10, width - FRAME.left - FRAME.right);
  const plotHeight = height - FRAME.bottom - FRAME.top;
  const bottom = FRAME.top + plotHeight;
  const step = plotWidth / starts.length;
  const y = (value: number) => bottom - (value / top) * plotHeight;
  const end = () => {
    if (drag && onZoom && drag[0] !== drag[1]) {
      const [a, b] = drag[0] < drag[1] ? drag : [drag[1], drag[0]];
      onZoom({ fromMs: starts[a], toMs: starts[b] + intervalMs });
    }
    setDrag(null);
  };
  return (
    <div ref={ref} className="relative w-full" style={{ height }} data-plot>
      {width > 0 && (
        <svg
          width={width}
          height={height}
          aria-hidden
          className={`block touch-pan-y ${onZoom ? "cursor-crosshair" : ""}`}
          onPointerMove={(event) => {
            const at = slotAt(event, starts.length);
            setHover(at);
            if (drag) setDrag([drag[0], at]);
          }}
          // After a touch the pointer leaves at once, the mouse when something else is touched.
          onMouseLeave={() => setHover(null)}
          onPointerDown={(event) => {
            const at = slotAt(event, starts.length);
            setHover(at);
            if (!onZoom || event.pointerType === "touch") return;
            event.currentTarget.setPointerCapture(event.pointerId);
            setDrag([at, at]);
          }}
          onPointerUp={end}
          onPointerCancel={() => setDrag(null)}
        >
          {ticks.map((value) => (
            <g key={value}>
              <line x1={FRAME.left} x2={width - FRAME.right} y1={y(value)} y2={y(value)} stroke="var(--line)" />
              <text x={FRAME.left - 6} y={y(value) + 4} textAnchor="end" fontSize="11" fill="var(--ink-2)">
                {formatTick(value)}
              </text>
            </g>
          ))}
          {drag && (
            <rect
              x={FRAME.left + Math.min(...drag) * step}
              y={FRAME.top}
              width={(Math.abs(drag[0] - drag[1]) + 1) * step}
              height={plotHeight}
              fill="var(--accent)"
              fillOpacity="0.14"
            />
          )}
          {hover !== null && !drag && (
            <rect
              data-cursor
              x={FRAME.left + hover * step}
              y={FRAME.top}
              width={step}
              height={plotHeight}
              fill="var(--ink)"
              fillOpacity="0.06"
            />
          )}
          {starts.map((start, i) => {
            let base = 0;
            return series.map((one) => {
              const value = one.values[i];
              if (!value) return null;
              const from = base;
              base += value;
              return (
                <rect
                  key={`${start}${one.label}`}
                  x={FRAME.left + i * step + (step > 4 ? 0.5 : 0)}
                  width={Math.max(0.75, step > 4 ? step - 1 : step)}
                  y={y(base)}
                  height={Math.max(0.75, y(from) - y(base))}
                  fill={one.colour}
                />
              );
            });
          })}
          {before && (
            <path
              data-before
              d={dashed(before, (i) => FRAME.left + (i + 0.5) * step, y)}
              fill="none"
              stroke="var(--ink-2)"
              strokeWidth="1.5"
              strokeDasharray="4 3"
            />
          )}
          <line x1={FRAME.left} x2={width - FRAME.right} y1={bottom} y2={bottom} stroke="var(--line)" />
          {axisTicks(starts, intervalMs, plotWidth).map(({ index, label }) => {
            const x = FRAME.left + (index + 0.5) * step;
            return (
              <g key={index} data-tick>
                <line x1={x} x2={x} y1={bottom} y2={bottom + TICK} stroke="var(--control)" />
                <text x={x} y={bottom + 15} textAnchor="middle" fontSize="11" fill="var(--ink-2)">
                  {label}
                </text>
              </g>
            );
          })}
        </svg>
      )}
      {isEmpty && <NothingMeasured />}
      <DeployMarks starts={starts} intervalMs={intervalMs} width={width} />
      {hover !== null && !drag && !isEmpty && (
        <HoverBox
          left={FRAME.left + (hover + 0.5) * step}
          width={width}
          start={starts[hover]}
          intervalMs={intervalMs}
          lines={[
            ...series.map((one) => {
              const value = one.values[hover];
              return { label: one.label, colour: one.colour, value: value ? format(value) : undefined };
            }),
            ...(before?.[hover] ? [{ label: "Before", colour: "var(--ink-2)", value: format(before[hover]) }] : []),
          ]}
        />
      )}
    </div>
  );
}

/** A path with gaps where nothing was measured. */
function dashed(values: (number | null)[], x: (slot: number) => number, y: (value: number) => number): string {
  let path = "";
  let isOpen = false;
  values.forEach((value, i) => {
    if (value !== null) path += `${isOpen ? "L" : "M"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
    isOpen = value !== null;
  });
  return path;
}
