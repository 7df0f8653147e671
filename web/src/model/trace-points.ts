// Geometry of the scatter of traces: time and log duration as fractions of the plot, and what a box selects.
import { count } from "./format";
import type { Span } from "./range";

/** Traces as points; the lists have the same length. */
export interface Points {
  traceIds: string[];
  /** Milliseconds since the epoch. */
  starts: number[];
  /** Milliseconds. */
  durations: number[];
  errors: boolean[];
  /** Fraction of the matching traces that are points; null: the points are the latest traces. */
  sampleRate: number | null;
}

/** Says which traces are points; empty when all are. */
export function sampleWords({ sampleRate }: Pick<Points, "sampleRate">): string {
  if (sampleRate === null) return "The points are the latest traces, not those of the whole time range.";
  if (sampleRate >= 1) return "";
  const [one, all] = sampleRate > 0.5 ? [Math.round(sampleRate * 10), 10] : [1, Math.round(1 / sampleRate)];
  return `The points are an even sample of the time range, about ${one} in ${count(all)} traces.`;
}

/** Fractions of the plot: x from left to right, y from bottom to top. */
export interface Box {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

export interface Plane {
  span: Span;
  /** Shortest and longest duration on the axis in milliseconds, powers of ten. */
  least: number;
  most: number;
}

/** Selection of a box: starts, and durations in milliseconds. */
export interface Selection {
  span: Span;
  min: number;
  max: number;
}

/** The axes of some points: at least one power of ten. */
export function planeOf(points: Points, span: Span): Plane {
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (const ms of points.durations) {
    const shown = Math.max(ms, 0.001);
    if (shown < least) least = shown;
    if (shown > most) most = shown;
  }
  if (most === 0) [least, most] = [1, 1000];
  const low = Math.floor(Math.log10(least) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(Math.log10(most) - 1e-9));
  return { span, least: 10 ** low, most: 10 ** high };
}

export function xOf(plane: Plane, startMs: number): number {
  return clamp((startMs - plane.span.fromMs) / Math.max(1, plane.span.toMs - plane.span.fromMs));
}

export function yOf(plane: Plane, ms: number): number {
  return clamp(Math.log(Math.max(ms, plane.least) / plane.least) / Math.log(plane.most / plane.least));
}

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

/** Round durations within the axis, in milliseconds: powers of ten up to 10 s, then minutes, hours and days. */
export function durationTicks(plane: Plane): number[] {
  const ticks: number[] = [];
  const add = (ms: number) => {
    if (plane.least <= ms && ms <= plane.most * 1.0001) ticks.push(ms);
  };
  for (let ms = plane.least; ms < MINUTE; ms *= 10) add(ms);
  for (const ms of [MINUTE, 10 * MINUTE, HOUR, 10 * HOUR]) add(ms);
  for (let ms = 2 * DAY; ms <= plane.most * 1.0001; ms *= 10) add(ms);
  return ticks;
}

/** The starts and durations in a box, on whole milliseconds where the axis has them; the edges of the plane are open. */
export function selected(plane: Plane, box: Box): Selection {
  const { fromMs, toMs } = plane.span;
  const time = (x: number) => Math.round(fromMs + x * (toMs - fromMs));
  const ms = (y: number) => plane.least * (plane.most / plane.least) ** y;
  return {
    span: { fromMs: time(Math.min(box.x0, box.x1)), toMs: Math.max(time(Math.max(box.x0, box.x1)), fromMs + 1) },
    min: Math.min(box.y0, box.y1) <= 0 ? 0 : rounded(ms(Math.min(box.y0, box.y1))),
    max: Math.max(box.y0, box.y1) >= 1 ? Number.POSITIVE_INFINITY : rounded(ms(Math.max(box.y0, box.y1))),
  };
}

export function countIn(points: Points, { span, min, max }: Selection): number {
  let found = 0;
  points.starts.forEach((start, i) => {
    const ms = points.durations[i];
    if (start >= span.fromMs && start < span.toMs && ms >= min && ms <= max) found += 1;
  });
  return found;
}

/** Index of the point nearest to a place in pixels, at most `reach` away; -1 without one. */
export function nearest(
  points: Points,
  plane: Plane,
  at: { x: number; y: number },
  size: { width: number; height: number },
  reach = 10,
): number {
  let [best, distance] = [-1, reach * reach];
  points.starts.forEach((start, i) => {
    const dx = xOf(plane, start) * size.width - at.x;
    const dy = (1 - yOf(plane, points.durations[i])) * size.height - at.y;
    const square = dx * dx + dy * dy;
    if (square <= distance) [best, distance] = [i, square];
  });
  return best;
}

/** Moves the far corner of a box by steps of the keyboard; with `grows`, the near corner stays. */
export function moved(box: Box, dx: number, dy: number, grows: boolean): Box {
  const [x, y] = [clamp(box.x1 + dx), clamp(box.y1 + dy)];
  if (grows) return { ...box, x1: x, y1: y };
  const [width, height] = [box.x1 - box.x0, box.y1 - box.y0];
  return { x0: clamp(x - width), x1: x, y0: clamp(y - height), y1: y };
}

/** Two significant digits: an edge that a person can read and repeat. */
function rounded(ms: number): number {
  return Number(ms.toPrecision(2));
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value));
}
