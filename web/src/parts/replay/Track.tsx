// The timeline below the picture: a slider with what the user did, idle and missing stretches, and marks.
import { useMemo, useRef, useState } from "react";
import {
  clock,
  density,
  type Mark,
  type MarkKind,
  type Stretch,
  type Timeline,
  toTenths,
} from "../../model/replay/timeline";
import { type Replay, useReplay } from "./replay";

const SLOTS = 160;
/** Pixels around the pointer in which a mark is named. */
const NEAR = 6;
export const STEP_MS = 5000;

export const MARKS: Record<MarkKind, { label: string; shape: string }> = {
  error: { label: "Error", shape: "top-0 h-full w-0.5 bg-error" },
  console: { label: "Console error", shape: "top-1 size-2 rounded-full bg-error" },
  network: { label: "Failed request", shape: "bottom-1 size-2 bg-warn" },
  navigation: { label: "Page", shape: "bottom-0 h-2/3 w-0.5 bg-accent" },
};

export function Track({
  replay,
  timeline,
  marks,
  pending,
}: {
  replay: Replay;
  timeline: Timeline;
  marks: Mark[];
  pending: Stretch[];
}) {
  const { lengthMs } = timeline;
  const at = useReplay(replay, (state) => state.at);
  const row = useRef<HTMLDivElement>(null);
  const [hover, setHover] = useState<number | null>(null);
  const bars = useMemo(() => density(timeline.activity, lengthMs, SLOTS), [timeline.activity, lengthMs]);
  const offset = (clientX: number) => {
    const box = row.current?.getBoundingClientRect();
    return box ? Math.max(0, Math.min(1, (clientX - box.left) / box.width)) * lengthMs : 0;
  };
  const near = hover === null ? null : nearest(marks, hover, (NEAR / (row.current?.clientWidth || 1)) * lengthMs);
  return (
    <div className="relative">
      <div
        ref={row}
        role="slider"
        tabIndex={0}
        aria-label="Position"
        aria-valuemin={0}
        aria-valuemax={toTenths(lengthMs)}
        aria-valuenow={toTenths(at)}
        aria-valuetext={`${clock(at)} of ${clock(lengthMs)}`}
        className="relative h-10 touch-none cursor-pointer overflow-hidden rounded-control border border-line bg-panel"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          replay.seek(offset(event.clientX));
        }}
        onPointerMove={(event) => {
          setHover(offset(event.clientX));
          if (event.currentTarget.hasPointerCapture(event.pointerId)) replay.seek(offset(event.clientX));
        }}
        onPointerLeave={() => setHover(null)}
        onKeyDown={(event) => {
          const to = target(event.key, at, lengthMs);
          if (to === null || event.defaultPrevented) return;
          event.preventDefault();
          replay.seek(to);
        }}
      >
        <Band stretches={pending} lengthMs={lengthMs} className="skeleton rounded-none!" />
        <Band stretches={timeline.idle} lengthMs={lengthMs} className="idle" name="idle" />
        <Band stretches={timeline.missing} lengthMs={lengthMs} className="unrecorded" name="missing" />
        <svg
          aria-hidden
          viewBox={`0 0 ${SLOTS} 1`}
          preserveAspectRatio="none"
          className="absolute inset-x-0 bottom-0 h-3 w-full"
        >
          {bars.map((height, i) =>
            height ? (
              <rect key={i} x={i + 0.1} width={0.8} y={1 - height} height={height} className="fill-control" />
            ) : null,
          )}
        </svg>
        {marks.map((mark, i) => (
          <span
            key={i}
            aria-hidden
            data-mark={mark.kind}
            className={`absolute -translate-x-1/2 ${MARKS[mark.kind].shape}`}
            style={{ left: `${(mark.at / lengthMs) * 100}%` }}
          />
        ))}
        <span
          aria-hidden
          className="pointer-events-none absolute inset-y-0 left-0 border-ink border-r-2 bg-accentsoft"
          style={{ width: `${(at / lengthMs) * 100}%` }}
        />
      </div>
      {hover !== null && (
        <div
          aria-hidden
          className="pointer-events-none absolute bottom-full z-10 mb-1 max-w-72 -translate-x-1/2 truncate whitespace-nowrap rounded-control bg-ink px-2 py-1 text-bg text-dense"
          style={{ left: `clamp(40px, ${(hover / lengthMs) * 100}%, calc(100% - 40px))` }}
        >
          {clock(near?.at ?? hover)}
          {near && ` · ${MARKS[near.kind].label}: ${near.title.slice(0, 120)}`}
        </div>
      )}
    </div>
  );
}

function Band({
  stretches,
  lengthMs,
  className,
  name,
}: {
  stretches: Stretch[];
  lengthMs: number;
  className: string;
  name?: string;
}) {
  return stretches.map(({ from, to }) => (
    <span
      key={from}
      aria-hidden
      data-stretch={name}
      className={`absolute inset-y-0 ${className}`}
      style={{ left: `${(from / lengthMs) * 100}%`, width: `${((to - from) / lengthMs) * 100}%` }}
    />
  ));
}

function target(key: string, at: number, lengthMs: number): number | null {
  switch (key) {
    case "ArrowLeft":
    case "ArrowDown":
      return at - STEP_MS;
    case "ArrowRight":
    case "ArrowUp":
      return at + STEP_MS;
    case "PageDown":
      return at - 6 * STEP_MS;
    case "PageUp":
      return at + 6 * STEP_MS;
    case "Home":
      return 0;
    case "End":
      return lengthMs;
    default:
      return null;
  }
}

function nearest(marks: Mark[], at: number, within: number): Mark | null {
  let best: Mark | null = null;
  for (const mark of marks)
    if (Math.abs(mark.at - at) <= within && (!best || Math.abs(mark.at - at) < Math.abs(best.at - at))) best = mark;
  return best;
}
