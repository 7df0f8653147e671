// The only file that knows uPlot. Lines with gaps where nothing was measured; lonely points get a dot. Drag to zoom.
import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import { niceTicks } from "../model/buckets";
import type { Span } from "../model/range";
import { dateTime, tick, timeZone } from "../model/time";
import { cssColour, useTheme } from "../ui/theme";
import { HoverBox } from "./StackedBars";
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
  series: LineSeries[];
  height: number;
  format: (value: number) => string;
  /** Axis ticks for 0..max; round numbers unless told. */
  ticksFor?: (max: number, wanted?: number) => number[];
  onZoom?: (span: Span) => void;
}

export function LineChart({ starts, series, height, format, ticksFor = niceTicks, onZoom }: Props) {
  const [box, width] = useWidth<HTMLDivElement>();
  const theme = useTheme();
  const plot = useRef<uPlot | null>(null);
  const [hover, setHover] = useState<{ at: number; left: number } | null>(null);
  const live = useRef({ format, onZoom, ticksFor });
  live.current = { format, onZoom, ticksFor };
  const shape = series.map((one) => `${one.label}|${one.colour}|${one.dash}`).join("\n");

  // Deliberate: series are compared by their shape; data goes in below
  useEffect(() => {
    if (!box.current || width === 0) return;
    const ink2 = cssColour("--ink-2");
    const line = cssColour("--line");
    const axis = {
      stroke: ink2,
      font: '11px "Inter Variable"',
      grid: { stroke: line, width: 1 },
      ticks: { show: false },
    };
    const spanMs = (starts.at(-1) ?? 0) - (starts[0] ?? 0);
    const chart = new uPlot(
      {
        width,
        height,
        ms: 1,
        tzDate: (ms) => uPlot.tzDate(new Date(ms), timeZone()),
        legend: { show: false },
        padding: [8, 8, 0, 0],
        cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
        scales: { x: { time: true }, y: { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] } },
        axes: [
          { ...axis, grid: { show: false }, size: 24, values: (_, ticks) => ticks.map((ms) => tick(ms, spanMs)) },
          {
            ...axis,
            size: 56,
            splits: (_, __, ___, max) => live.current.ticksFor(max, 4).filter((value) => value <= max),
            values: (_, ticks) => ticks.map((value) => live.current.format(value)),
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
            points: { show: true, size: 4, fill: cssColour(one.colour), filter: lonely },
          })),
        ],
        hooks: {
          setCursor: [
            (u) => {
              const at = u.cursor.idx;
              setHover(
                at === null || at === undefined || (u.cursor.left ?? -1) < 0
                  ? null
                  : { at, left: u.valToPos(u.data[0][at], "x") + 56 },
              );
            },
          ],
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
      [starts, ...series.map((one) => one.values)],
      box.current,
    );
    plot.current = chart;
    return () => {
      chart.destroy();
      plot.current = null;
    };
  }, [shape, theme, height, width === 0, starts]);

  useEffect(() => {
    if (width) plot.current?.setSize({ width, height });
  }, [width, height]);

  // Deliberate: the values are the data
  useEffect(() => {
    plot.current?.setData([starts, ...series.map((one) => one.values)]);
  }, [starts, series]);

  return (
    <div ref={box} className="relative w-full" style={{ height }} aria-hidden>
      {hover && hover.at < starts.length && (
        <HoverBox left={hover.left} width={width}>
          <div className="font-medium">{dateTime(starts[hover.at])}</div>
          {series.map((one) => (
            <div key={one.label} className="flex items-center gap-1.5">
              <span className="size-2 shrink-0 rounded-[2px]" style={{ background: `var(${one.colour})` }} />
              <span className="min-w-0 flex-1 truncate text-ink2">{one.label}</span>
              <span>
                {one.values[hover.at] === null || one.values[hover.at] === undefined
                  ? "–"
                  : format(one.values[hover.at]!)}
              </span>
            </div>
          ))}
        </HoverBox>
      )}
    </div>
  );
}

/** Indices of points without a neighbour: a line cannot show them. */
function lonely(u: uPlot, seriesIndex: number): number[] {
  const values = u.data[seriesIndex] as (number | null)[];
  const out: number[] = [];
  for (let i = 0; i < values.length; i++) {
    const empty = (at: number) => values[at] === null || values[at] === undefined;
    if (!empty(i) && empty(i - 1) && empty(i + 1)) out.push(i);
  }
  return out;
}
