// Width of the name column: dragged or changed by the arrow keys, and stored in this browser.
import { type KeyboardEvent, type PointerEvent, useState } from "react";

const KEY = "tidewatch.names";
/** Minimum width in pixels. */
export const NAMES_MIN = 112;
const clamp = (width: number) => Math.max(NAMES_MIN, Math.min(window.innerWidth * 0.6, width));

export function useNameWidth(): [number, (width: number) => void] {
  const [width, setWidth] = useState(() =>
    clamp(Number(localStorage.getItem(KEY)) || (window.innerWidth < 700 ? window.innerWidth * 0.4 : 400)),
  );
  return [
    width,
    (next) => {
      localStorage.setItem(KEY, String(Math.round(clamp(next))));
      setWidth(clamp(next));
    },
  ];
}

export function NameHandle({ width, onWidth }: { width: number; onWidth: (width: number) => void }) {
  const [drag, setDrag] = useState<{ x: number; width: number } | null>(null);
  const key = (event: KeyboardEvent) => {
    const step = event.key === "ArrowLeft" ? -24 : event.key === "ArrowRight" ? 24 : 0;
    if (!step) return;
    event.preventDefault();
    onWidth(width + step);
  };
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the names"
      aria-valuenow={Math.round(width)}
      aria-valuemin={NAMES_MIN}
      aria-valuemax={Math.round(window.innerWidth * 0.6)}
      tabIndex={0}
      className="absolute inset-y-0 w-2 cursor-col-resize touch-none hover:bg-accent/30"
      style={{ left: width - 4 }}
      onKeyDown={key}
      onPointerDown={(event: PointerEvent) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag({ x: event.clientX, width });
      }}
      onPointerMove={(event) => drag && onWidth(drag.width + event.clientX - drag.x)}
      onPointerUp={() => setDrag(null)}
    />
  );
}
