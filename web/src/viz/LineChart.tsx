// The only file that uses uPlot. Lines have gaps where nothing was measured; isolated points have a dot. Drag to zoom.
// A point is in the middle of its interval, like the middle of a bar.
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import { axisTicks } from "../model/axis";
import { hasValues, niceTicks } from "../model/buckets";
import type { Span } from "../model/range";
import { cssColour, useTheme } from "../ui/theme";
import { slotAt, useCursor } from "./cursor";
import { DeployMarks } from "./DeployMarks";
import { FRAME, TICK } from "./frame";
import { HoverBox, NothingMeasured } from "./HoverBox";
import { useWidth } from "./useWidth";

export interface LineSeries {
  label: string;
  /** CSS variable, e.g. "--c1". */
  colour: string;
  dash?: boolean;
  values: (number | null)[];
}
interface Props {
  starts: number[];
  intervalMs: number;
  series: LineSeries[];
  height: number;
  format: (value: number) => string;
  /** Format of the value axis, whose values are round; default `format`. */
  formatTick?: (value: number) => string;
  /** Axis ticks for 0..max; default: round numbers. */
  ticksFor?: (max: number) => number[];
  onZoom?: (span: Span) => void;
}

export function LineChart({ starts, intervalMs, series, height, format, onZoom, ...axis }: Props) {
  const { ticksFor = niceTicks, formatTick = format } = axis;
  const [box, width] = useWidth<HTMLDivElement>();
  const theme = useTheme();
  const plot = useRef<uPlot | null>(null);
  const [hover, setHover] = useCursor(starts, intervalMs);
  const isEmpty = !hasValues(series);
  const live = useRef({ formatTick, onZoom, ticksFor, isEmpty });
  live.current = { formatTick, onZoom, ticksFor, isEmpty };
  const shape = series.map((one) => `${one.label}|${one.colour}|${one.dash}`).join("\n");

  // Deliberate: compares series by their shape; the data is set below
  useEffect(() => {
    if (!box.current || width === 0) return;
    const ink2 = cssColour("--ink-2");
    const line = cssColour("--line");
    const look = { stroke: ink2, font: '11px "Inter Variable"' };
    const from = starts[0] ?? 0;
    const to = (starts.at(-1) ?? 0) + intervalMs;
    const timeTicks = (u: uPlot) => axisTicks(starts, intervalMs, u.bbox.width / devicePixelRatio);
    const chart = new uPlot(
      {
        width,
        height,
        ms: 1,
        legend: { show: false },
        padding: [FRAME.top, FRAME.right, 0, 0],
        cursor: { x: false, y: false, drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
        scales: {
          x: { time: false, range: () => [from, to] },
          y: { range: (_, __, max) => [0, (max > 0 && live.current.ticksFor(max).at(-1)) || 1] },
        },
        axes: [
          {
            ...look,
            size: FRAME.bottom,
            gap: 1,
            grid: { show: false },
            border: { show: true, stroke: line, width: 1 },
            ticks: { show: true, stroke: cssColour("--control"), width: 1, size: TICK },
            splits: (u) => timeTicks(u).map((tick) => starts[tick.index] + intervalMs / 2),
            values: (u) => timeTicks(u).map((tick) => tick.label),
          },
          {
            ...look,
            size: FRAME.left,
            grid: { stroke: line, width: 1 },
            ticks: { show: false },
            splits: (_, __, ___, max) =>
              live.current.isEmpty ? [] : live.current.ticksFor(max).filter((value) => value <= max),
            values: (_, ticks) => ticks.map((value) => live.current.formatTick(value)),
          },
        ],
        series: [
          {},
          ...series.map((one) => ({
            label: one.label,
            stroke: cssColour(one.colour),
            width: 1.5,
            dash: one.dash ? [4, 3] : undefined,
            spanGaps: false,
            points: { show: true, size: 4, fill: cssColour(one.colour), filter: isolatedPoints },
          })),
        ],
        hooks: {
          setSelect: [
            (u) => {
              if (u.select.width > 4)
                live.current.onZoom?.({
                  fromMs: u.posToVal(u.select.left, "x"),
                  toMs: u.posToVal(u.select.left + u.select.width, "x"),
                });
              u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            },
          ],
        },
      },
      data(starts, intervalMs, series),
      box.current,
    );
    plot.current = chart;
    return () => {
      chart.destroy();
      plot.current = null;
    };
  }, [shape, theme, height, width === 0, starts, intervalMs]);

  useEffect(() => {
    if (width) plot.current?.setSize({ width, height });
  }, [width, height]);

  // Deliberate: depends on the values only
  useEffect(() => {
    plot.current?.setData(data(starts, intervalMs, series));
  }, [starts, intervalMs, series]);

  const step = Math.max(10, width - FRAME.left - FRAME.right) / Math.max(1, starts.length);
  const left = hover === null ? 0 : FRAME.left + (hover + 0.5) * step;
  return (
    <div className="relative w-full" style={{ height }}>
      <div
        ref={box}
        className="relative w-full"
        style={{ height }}
        aria-hidden
        data-plot
        onPointerDown={(event) => setHover(slotAt(event, starts.length))}
        onPointerMove={(event) => setHover(slotAt(event, starts.length))}
        // After a touch the pointer leaves at once, the mouse when something else is touched.
        onMouseLeave={() => setHover(null)}
      >
        {isEmpty && <NothingMeasured />}
        {hover !== null && !isEmpty && (
          <>
            <div
              data-cursor
              className="pointer-events-none absolute w-px bg-control"
              style={{ left, top: FRAME.top, bottom: FRAME.bottom }}
            />
            <HoverBox
              left={left}
              width={width}
              start={starts[hover]}
              intervalMs={intervalMs}
              lines={series.map((one) => {
                const value = one.values[hover];
                return {
                  label: one.label,
                  colour: `var(${one.colour})`,
                  value: value === null || value === undefined ? "–" : format(value),
                };
              })}
            />
          </>
        )}
      </div>
      <DeployMarks starts={starts} intervalMs={intervalMs} width={width} />
    </div>
  );
}

function data(starts: number[], intervalMs: number, series: LineSeries[]): uPlot.AlignedData {
  return [starts.map((start) => start + intervalMs / 2), ...series.map((one) => one.values)];
}

/** Indices of points without a neighbour, which a line does not show. */
function isolatedPoints(u: uPlot, seriesIndex: number): number[] {
  const values = u.data[seriesIndex] as (number | null)[];
  const out: number[] = [];
  for (let i = 0; i < values.length; i++) {
    const empty = (at: number) => values[at] === null || values[at] === undefined;
    if (!empty(i) && empty(i - 1) && empty(i + 1)) out.push(i);
  }
  return out;
}
