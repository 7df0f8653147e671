// Bars per interval, stacked by series. A bucket without data has no bar, so a gap stays a gap. Drag to zoom.
import { type PointerEvent, useState } from "react";
import { niceTicks } from "../model/buckets";
import type { Span } from "../model/range";
import { clockMs, dateTime, tick } from "../model/time";
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
  /** Axis ticks for 0..max; round numbers unless told. */
  ticksFor?: (max: number) => number[];
  onZoom?: (span: Span) => void;
}

const LEFT = 56;
const BOTTOM = 20;
const TOP = 6;

export function StackedBars({ starts, intervalMs, series, height, format, ticksFor = niceTicks, onZoom }: Props) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const [hover, setHover] = useState<number | null>(null);
  const [drag, setDrag] = useState<[number, number] | null>(null);
  const totals = starts.map((_, i) => series.reduce((sum, one) => sum + (one.values[i] ?? 0), 0));
  const ticks = ticksFor(Math.max(...totals, 0));
  const top = ticks[ticks.length - 1];
  const plotWidth = Math.max(10, width - LEFT - 4);
  const plotHeight = height - BOTTOM - TOP;
  const step = plotWidth / starts.length;
  const y = (value: number) => TOP + plotHeight - (value / top) * plotHeight;
  const slotAt = (event: PointerEvent) => {
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left - LEFT;
    return Math.max(0, Math.min(starts.length - 1, Math.floor(x / step)));
  };
  const end = () => {
    if (drag && onZoom && drag[0] !== drag[1]) {
      const [a, b] = drag[0] < drag[1] ? drag : [drag[1], drag[0]];
      onZoom({ fromMs: starts[a], toMs: starts[b] + intervalMs });
    }
    setDrag(null);
  };
  const spanMs = starts.length * intervalMs;
  const labelEvery = Math.max(1, Math.ceil(starts.length / Math.max(2, Math.floor(plotWidth / 90))));
  return (
    <div ref={ref} className="relative w-full" style={{ height }}>
      {width > 0 && (
        <svg
          width={width}
          height={height}
          aria-hidden
          className={`block touch-pan-y ${onZoom ? "cursor-crosshair" : ""}`}
          onPointerMove={(event) => {
            const at = slotAt(event);
            setHover(at);
            if (drag) setDrag([drag[0], at]);
          }}
          onPointerLeave={() => setHover(null)}
          onPointerDown={(event) => {
            if (!onZoom || event.pointerType === "touch") return;
            event.currentTarget.setPointerCapture(event.pointerId);
            setDrag([slotAt(event), slotAt(event)]);
          }}
          onPointerUp={end}
          onPointerCancel={() => setDrag(null)}
        >
          {ticks.map((value) => (
            <g key={value}>
              <line x1={LEFT} x2={width - 4} y1={y(value)} y2={y(value)} stroke="var(--line)" />
              <text x={LEFT - 6} y={y(value) + 4} textAnchor="end" fontSize="11" fill="var(--ink-2)">
                {format(value)}
              </text>
            </g>
          ))}
          {drag && (
            <rect
              x={LEFT + Math.min(...drag) * step}
              y={TOP}
              width={(Math.abs(drag[0] - drag[1]) + 1) * step}
              height={plotHeight}
              fill="var(--accent)"
              fillOpacity="0.14"
            />
          )}
          {hover !== null && !drag && (
            <rect
              x={LEFT + hover * step}
              y={TOP}
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
                  x={LEFT + i * step + (step > 4 ? 0.5 : 0)}
                  width={Math.max(0.75, step > 4 ? step - 1 : step)}
                  y={y(base)}
                  height={Math.max(0.75, y(from) - y(base))}
                  fill={one.colour}
                />
              );
            });
          })}
          {starts.map((start, i) =>
            i % labelEvery === 0 && LEFT + i * step < width - 40 ? (
              <text key={start} x={LEFT + i * step} y={height - 5} fontSize="11" fill="var(--ink-2)">
                {tick(start, spanMs)}
              </text>
            ) : null,
          )}
        </svg>
      )}
      {hover !== null && !drag && (
        <HoverBox left={LEFT + (hover + 0.5) * step} width={width}>
          <div className="font-medium">
            {dateTime(starts[hover])} – {clockMs(starts[hover] + intervalMs).slice(0, 8)}
          </div>
          {series.map((one) => {
            const value = one.values[hover];
            return value ? (
              <div key={one.label} className="flex items-center gap-1.5">
                <span className="size-2 shrink-0 rounded-[2px]" style={{ background: one.colour }} />
                <span className="min-w-0 flex-1 truncate text-ink2">{one.label}</span>
                <span>{format(value)}</span>
              </div>
            ) : null;
          })}
          {totals[hover] === 0 && <div className="text-ink2">nothing arrived</div>}
        </HoverBox>
      )}
    </div>
  );
}

/** Follows the cursor without leaving the chart; never takes the pointer. */
export function HoverBox({ left, width, children }: { left: number; width: number; children: React.ReactNode }) {
  const flip = left > width / 2;
  return (
    <div
      aria-hidden
      className="menu pointer-events-none absolute top-1 z-10 max-w-80 min-w-40 px-2! py-1.5! text-dense"
      style={flip ? { right: width - left + 12 } : { left: left + 12 }}
    >
      {children}
    </div>
  );
}
