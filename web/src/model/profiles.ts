// Profiles: values with their units, colours by package, and the baseline of a comparison.
import { bytes, count, durationNs } from "./format";
import type { Span } from "./range";
import { isoFromMs } from "./time";

/** A value in the unit of its sample type, which is pprof's: "nanoseconds", "bytes", "count", ... */
export function profileValue(value: number, unit: string): string {
  if (unit === "nanoseconds" || unit === "ns") return durationNs(value);
  if (unit === "microseconds") return durationNs(value * 1000);
  if (unit === "milliseconds") return durationNs(value * 1e6);
  if (unit === "seconds") return durationNs(value * 1e9);
  if (unit === "bytes" || unit === "By") return value < 0 ? `-${bytes(Math.round(-value))}` : bytes(Math.round(value));
  const plain = count(value);
  return unit === "" || unit === "count" ? plain : `${plain} ${unit}`;
}

/** The title of a type of profile, such as "cpu · nanoseconds" or "heap · inuse_space". */
export function profileTitle(type: { profile: string; sampleType: string; unit: string }): string {
  return type.profile === type.sampleType ? `${type.profile} · ${type.unit}` : `${type.profile} · ${type.sampleType}`;
}

const SLOTS = 8;

/**
 * Colour slots (0 to 7) of packages, heaviest first. A package has the same colour in every graph unless a heavier one
 * has taken it. Unknown packages, and those after the eighth, have none.
 */
export function packageSlots(packages: string[]): Map<string, number> {
  const slots = new Map<string, number>();
  const taken = new Set<number>();
  for (const name of packages) {
    if (!name || slots.has(name) || taken.size === SLOTS) continue;
    let hash = 0x811c9dc5;
    for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
    let slot = (hash >>> 0) % SLOTS;
    while (taken.has(slot)) slot = (slot + 1) % SLOTS;
    taken.add(slot);
    slots.set(name, slot);
  }
  return slots;
}

/** Baseline of a selection; null keeps the selection's own. */
export interface Baseline {
  fromDate: string | null;
  toDate: string | null;
  appVersion: string | null;
  serverName: string | null;
}
const SAME: Baseline = { fromDate: null, toDate: null, appVersion: null, serverName: null };

/** The baseline that the search parameter `baseline` names: "previous" or "v:<version>"; null without one. */
export function baselineOf(baseline: string | undefined, span: Span): Baseline | null {
  if (baseline === "previous")
    return { ...SAME, fromDate: isoFromMs(2 * span.fromMs - span.toMs), toDate: isoFromMs(span.fromMs) };
  return baseline?.startsWith("v:") ? { ...SAME, appVersion: baseline.slice(2) } : null;
}

/** The type that is shown when the address names none: CPU first, then what was seen last. */
export function firstType<T extends { profile: string; sampleType: string; lastSeen: string }>(
  types: T[],
): T | undefined {
  const rank = (type: T) =>
    type.profile === "cpu" && type.sampleType !== "samples" ? 0 : type.profile === "cpu" ? 1 : 2;
  return types.toSorted((a, b) => rank(a) - rank(b) || b.lastSeen.localeCompare(a.lastSeen))[0];
}

/** Says what the first profiles of processes are for, which do not say the time that they cover. */
export function firstProfilesNote(first: { profiles: number; areShown: boolean }): string {
  const profiles = first.profiles === 1 ? "1 first profile" : `${first.profiles} first profiles`;
  return first.areShown
    ? `amounts since the start of the process: no later profile differs from ${profiles}`
    : `${profiles} of a process only as the base of differences`;
}
