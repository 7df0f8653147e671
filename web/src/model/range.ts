// The time range is text in the URL: from/to are "now", "now-15m" … "now-7d" or RFC 3339.
import { dateTime, timeZone } from "./time";
import { wallClockMs, zoneOffsetMinutes } from "./zones";

export interface Range {
  from: string;
  to: string;
}
/** Milliseconds since the epoch, `fromMs <= toMs`. */
export interface Span {
  fromMs: number;
  toMs: number;
}

export const DEFAULT_RANGE: Range = { from: "now-24h", to: "now" };

export const PRESETS: { from: string; label: string; key: string }[] = [
  { from: "now-15m", label: "Last 15 minutes", key: "15m" },
  { from: "now-1h", label: "Last hour", key: "1h" },
  { from: "now-6h", label: "Last 6 hours", key: "6h" },
  { from: "now-24h", label: "Last 24 hours", key: "24h" },
  { from: "now-2d", label: "Last 2 days", key: "2d" },
  { from: "now-7d", label: "Last 7 days", key: "7d" },
  { from: "now-14d", label: "Last 14 days", key: "14d" },
  { from: "now-30d", label: "Last 30 days", key: "30d" },
];

const UNIT_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const RELATIVE = /^now(?:-(\d{1,5})([smhdw]))?$/;

/** Milliseconds since the epoch; null if the text is neither relative nor a date. */
export function resolveInstant(text: string, nowMs: number): number | null {
  const match = RELATIVE.exec(text);
  if (match) return nowMs - (match[1] ? Number(match[1]) * UNIT_MS[match[2]] : 0);
  const absolute = Date.parse(text);
  return Number.isNaN(absolute) ? null : absolute;
}

/** Always returns a valid span: invalid text falls back to the default, swapped bounds are reordered. */
export function resolveRange(range: Range, nowMs: number): Span {
  const from = resolveInstant(range.from, nowMs) ?? resolveInstant(DEFAULT_RANGE.from, nowMs)!;
  const to = resolveInstant(range.to, nowMs) ?? nowMs;
  return from <= to ? { fromMs: from, toMs: to } : { fromMs: to, toMs: from };
}

export function isLive(range: Range): boolean {
  return range.to === "now";
}

export function labelRange(range: Range): string {
  const preset = PRESETS.find((entry) => entry.from === range.from && range.to === "now");
  if (preset) return preset.label;
  const match = RELATIVE.exec(range.from);
  if (match?.[1] && range.to === "now") {
    const words: Record<string, string> = { s: "seconds", m: "minutes", h: "hours", d: "days", w: "weeks" };
    return `Last ${match[1]} ${words[match[2]]}`;
  }
  return `${labelEnd(range.from)} – ${labelEnd(range.to)}`;
}

function labelEnd(text: string): string {
  if (RELATIVE.test(text)) return text;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? text : dateTime(ms).replace(/:00$/, "");
}

export function absolute(span: Span): Range {
  return { from: new Date(Math.floor(span.fromMs)).toISOString(), to: new Date(Math.ceil(span.toMs)).toISOString() };
}

/** Shifts the range by its length, earlier (-1) or later (+1), never past now. */
export function shift(span: Span, direction: -1 | 1, nowMs: number): Span {
  const length = span.toMs - span.fromMs;
  const to = Math.min(span.toMs + direction * length, nowMs);
  return { fromMs: to - length, toMs: to };
}

/** Doubles the length around the same middle; the end never passes now. */
export function widen(span: Span, nowMs: number): Span {
  const half = (span.toMs - span.fromMs) / 2;
  const to = Math.min(span.toMs + half, nowMs);
  return { fromMs: to - half * 4, toMs: to };
}

/** Value of <input type="datetime-local">: wall clock of the viewer's time zone, to the second. */
export function toLocalInput(ms: number): string {
  return new Date(ms + zoneOffsetMinutes(timeZone(), ms) * 60_000).toISOString().slice(0, 19);
}
/** Inverse; NaN if the field is empty. */
export function fromLocalInput(text: string): number {
  return wallClockMs(text, timeZone());
}
