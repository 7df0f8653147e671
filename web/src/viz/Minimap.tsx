// The whole trace in 56 pixels: one canvas, redrawn per size and theme, with the zoom window as elements above it.
import { type PointerEvent, useEffect, useMemo, useRef, useState } from "react";
import type { Trace } from "../model/waterfall";
import { cssColour, useTheme } from "../ui/theme";
import { slotVariable } from "./palette";
import { useWidth } from "./useWidth";

export interface Zoom {
  from: number;
  to: number;
}
interface Props {
  trace: Trace;
  /** Palette slot of a service. */
  colourOf: (service: string) => number;
  zoom: Zoom;
  onZoom: (zoom: Zoom) => void;
  selected: number;
  /** A time to mark, in milliseconds after the trace's start. */
  at?: number | null;
  /** Instead of the words about zoom. */
  label?: string;
}
const HEIGHT = 56;

export function Minimap({ trace, colourOf, zoom, onZoom, selected, at, label }: Props) {
  const [ref, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const slots = trace.services.map((service) => colourOf(service.name)).join();
  const colours = useMemo(() => {
    const numbers = slots.split(",").map(Number);
    return new Map(trace.services.map((service, i) => [service.name, numbers[i]]));
  }, [trace, slots]);
  const [drag, setDrag] = useState<{ kind: "new" | "move" | "left" | "right"; at: number; zoom: Zoom } | null>(null);

  useEffect(() => {
    if (canvas.current && width) draw(canvas.current, trace, colours, width, theme);
  }, [trace, colours, width, theme]);

  const total = Math.max(trace.totalMs, 1e-6);
  const px = (ms: number) => (ms / total) * width;
  const msAt = (event: PointerEvent) => {
    const box = ref.current!.getBoundingClientRect();
    return Math.max(0, Math.min(total, ((event.clientX - box.left) / box.width) * total));
  };
  const whole = zoom.from <= 0 && zoom.to >= total;
  const start = (event: PointerEvent) => {
    const at = msAt(event);
    const edge = (6 / width) * total;
    const kind = whole
      ? "new"
      : Math.abs(at - zoom.from) < edge
        ? "left"
        : Math.abs(at - zoom.to) < edge
          ? "right"
          : at > zoom.from && at < zoom.to
            ? "move"
            : "new";
    ref.current?.setPointerCapture(event.pointerId);
    setDrag({ kind, at, zoom });
  };
  const move = (event: PointerEvent) => {
    if (!drag) return;
    const at = msAt(event);
    if (drag.kind === "new") {
      if (Math.abs(px(at) - px(drag.at)) > 3) onZoom({ from: Math.min(at, drag.at), to: Math.max(at, drag.at) });
      return;
    }
    if (drag.kind === "left") return onZoom({ from: Math.min(at, drag.zoom.to - total / 1e5), to: drag.zoom.to });
    if (drag.kind === "right") return onZoom({ from: drag.zoom.from, to: Math.max(at, drag.zoom.from + total / 1e5) });
    const length = drag.zoom.to - drag.zoom.from;
    const from = Math.max(0, Math.min(total - length, drag.zoom.from + at - drag.at));
    onZoom({ from, to: from + length });
  };
  const mark = selected >= 0 ? trace.nodes[selected] : null;
  return (
    <div
      ref={ref}
      role="img"
      aria-label={
        label ?? `Overview of ${trace.nodes.length} spans. Zoom with w and s, pan with a and d, whole trace with 0.`
      }
      className="relative cursor-crosshair touch-none overflow-hidden rounded-control border border-line bg-panel"
      style={{ height: HEIGHT }}
      onPointerDown={start}
      onPointerMove={move}
      onPointerUp={() => setDrag(null)}
      onPointerCancel={() => setDrag(null)}
      onDoubleClick={() => onZoom({ from: 0, to: total })}
    >
      <canvas ref={canvas} className="absolute inset-0" />
      {mark && (
        <div
          className="absolute inset-y-0 bg-accent/25"
          style={{ left: px(mark.startMs), width: Math.max(2, px(mark.durationMs)) }}
        />
      )}
      {at !== undefined && at !== null && (
        <div
          data-time
          className="absolute inset-y-0 w-0.5 bg-ink"
          style={{ left: px(Math.min(Math.max(at, 0), total)) }}
        />
      )}
      {!whole && (
        <>
          <div className="absolute inset-y-0 left-0 bg-bg/75" style={{ width: px(zoom.from) }} />
          <div className="absolute inset-y-0 right-0 bg-bg/75" style={{ width: width - px(zoom.to) }} />
          <div
            className="absolute inset-y-0 cursor-grab border-accent border-x-2"
            style={{ left: px(zoom.from) - 1, width: Math.max(3, px(zoom.to) - px(zoom.from) + 2) }}
          />
        </>
      )}
    </div>
  );
}

function draw(
  canvas: HTMLCanvasElement,
  trace: Trace,
  slots: Map<string, number>,
  width: number,
  _theme: string,
): void {
  const scale = devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(HEIGHT * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${HEIGHT}px`;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(scale, scale);
  context.clearRect(0, 0, width, HEIGHT);
  const { nodes } = trace;
  const total = Math.max(trace.totalMs, 1e-6);
  const colours = new Map([...slots].map(([name, slot]) => [name, cssColour(slotVariable(slot))]));
  const step = (HEIGHT - 8) / Math.max(nodes.length, 6);
  const bar = Math.max(1, Math.min(6, step - 0.5));
  const put = (i: number, colour: string) => {
    const node = nodes[i];
    context.fillStyle = colour;
    context.fillRect((node.startMs / total) * width, 4 + i * step, Math.max(1, (node.durationMs / total) * width), bar);
  };
  for (let i = 0; i < nodes.length; i++) put(i, colours.get(nodes[i].span.serviceName) ?? "#888");
  const red = cssColour("--error");
  for (const i of trace.errors) put(i, red);
}
