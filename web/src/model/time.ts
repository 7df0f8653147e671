// Instants are RFC 3339 text with up to nine fraction digits on the wire, bigint nanoseconds in exact computations and
// milliseconds (number) in charts.

import { browserZone, isZone } from "./zones";

const RFC3339 = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(Z|[+-]\d\d:?\d\d)?$/;

/** Nanoseconds since the epoch; null if the text is not an instant. */
export function parseNs(text: string | null | undefined): bigint | null {
  const match = text ? RFC3339.exec(text) : null;
  if (!match) return null;
  const seconds = Date.parse(`${match[1]}T${match[2]}${match[4] ?? "Z"}`);
  if (Number.isNaN(seconds)) return null;
  return BigInt(seconds) * 1_000_000n + BigInt((match[3] ?? "").padEnd(9, "0") || 0);
}

/** Milliseconds since the epoch with microsecond precision; NaN if the text is not an instant. */
export function parseMs(text: string | null | undefined): number {
  const ns = parseNs(text);
  return ns === null ? Number.NaN : Number(ns / 1000n) / 1000;
}

export function isoFromMs(ms: number): string {
  return new Date(ms).toISOString();
}

/** With nine digits of the second. */
export function isoFromNs(ns: bigint): string {
  const rest = ((ns % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  return new Date(Number((ns - rest) / 1_000_000n))
    .toISOString()
    .replace(".000Z", `.${String(rest).padStart(9, "0")}Z`);
}

const MONTH_DAY: Intl.DateTimeFormatOptions = { month: "short", day: "numeric" };
const CLOCK: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false };

function formats(timeZone: string) {
  return {
    timeZone,
    clock: new Intl.DateTimeFormat("en-GB", { ...CLOCK, timeZone }),
    clockShort: new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", hour12: false, timeZone }),
    monthDay: new Intl.DateTimeFormat("en-GB", { ...MONTH_DAY, timeZone }),
    monthDayYear: new Intl.DateTimeFormat("en-GB", { ...MONTH_DAY, year: "numeric", timeZone }),
  };
}
let { clock, clockShort, monthDay, monthDayYear, timeZone: zone } = formats(browserZone());

/** Sets the time zone of all formatted times; null or an unknown name selects the browser's. */
export function setTimeZone(name: string | null | undefined): void {
  const next = isZone(name) ? name : browserZone();
  if (next !== zone) ({ clock, clockShort, monthDay, monthDayYear, timeZone: zone } = formats(next));
}
export function timeZone(): string {
  return zone;
}

/** "21 Nov 14:03:12" in the viewer's time zone. */
export function dateTime(ms: number): string {
  return Number.isFinite(ms) ? `${monthDay.format(ms)} ${clock.format(ms)}` : "–";
}

/** "21 Nov 2026 14:03:12.123456789": full precision, in the viewer's time zone. */
export function exactTime(text: string): string {
  const ns = parseNs(text);
  if (ns === null) return text || "–";
  const ms = Number(ns / 1_000_000n);
  const digits = (ns % 1_000_000_000n).toString().padStart(9, "0");
  const fraction = digits.replace(/0{6}$|0{3}$/, "");
  return `${monthDayYear.format(ms)} ${clock.format(ms)}.${fraction}`;
}

/** "14:03:12.123" */
export function clockMs(ms: number): string {
  if (!Number.isFinite(ms)) return "–";
  const fraction = Math.floor(((ms % 1000) + 1000) % 1000);
  return `${clock.format(ms)}.${String(fraction).padStart(3, "0")}`;
}

/** "14:03" */
export function clockMinutes(ms: number): string {
  return clockShort.format(ms);
}

/** "21 Nov" */
export function dayMonth(ms: number): string {
  return monthDay.format(ms);
}

const STEPS: [number, string][] = [
  [1000, "s"],
  [60_000, "min"],
  [3_600_000, "h"],
  [86_400_000, "d"],
];

/** "4 s ago", "12 min ago", "3 h ago", "5 d ago"; after 60 days the date. */
export function ago(ms: number, nowMs: number): string {
  if (!Number.isFinite(ms)) return "–";
  const gap = nowMs - ms;
  if (gap < 0) return gap > -5000 ? "just now" : dateTime(ms);
  if (gap < 1000) return "just now";
  if (gap > 60 * 86_400_000) return monthDayYear.format(ms);
  let best = STEPS[0];
  for (const step of STEPS) if (gap >= step[0]) best = step;
  return `${Math.floor(gap / best[0])} ${best[1]} ago`;
}
