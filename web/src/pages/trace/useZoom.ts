// The visible interval of the trace in milliseconds. Written to the URL ("z=12.5-80") 300 ms after the last change.
import { useCallback, useEffect, useRef, useState } from "react";
import { usePatchSearch } from "../../parts/listSearch";
import type { Zoom } from "../../viz/Minimap";

export function parseZoom(text: string | undefined, totalMs: number): Zoom {
  const match = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text ?? "");
  const from = match ? Number(match[1]) : 0;
  const to = match ? Math.min(Number(match[2]), totalMs) : totalMs;
  return from < to ? { from, to } : { from: 0, to: totalMs };
}

export function useZoom(text: string | undefined, totalMs: number) {
  const [zoom, setLocal] = useState(() => parseZoom(text, totalMs));
  const patch = useRef(usePatchSearch());
  patch.current = usePatchSearch();
  const written = useRef(text);

  useEffect(() => {
    if (text !== written.current) setLocal(parseZoom(text, totalMs));
    written.current = text;
  }, [text, totalMs]);

  useEffect(() => {
    const whole = zoom.from <= 0 && zoom.to >= totalMs;
    const next = whole ? undefined : `${Number(zoom.from.toFixed(4))}-${Number(zoom.to.toFixed(4))}`;
    if (next === written.current) return;
    const timer = setTimeout(() => {
      written.current = next;
      patch.current({ z: next }, true);
    }, 300);
    return () => clearTimeout(timer);
  }, [zoom, totalMs]);

  const setZoom = useCallback(
    (next: Zoom) => {
      const least = Math.max(totalMs / 1e6, 1e-6);
      const length = Math.min(totalMs, Math.max(least, next.to - next.from));
      const from = Math.max(0, Math.min(totalMs - length, next.from));
      setLocal({ from, to: from + length });
    },
    [totalMs],
  );
  return [zoom, setZoom] as const;
}

/** Zooms in (factor < 1) or out around a point of the interval. */
export function scaled(zoom: Zoom, factor: number, around = (zoom.from + zoom.to) / 2): Zoom {
  return { from: around - (around - zoom.from) * factor, to: around + (zoom.to - around) * factor };
}
