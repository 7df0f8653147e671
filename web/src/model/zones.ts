// Time zones by IANA name. An empty preference means the browser's own zone.

export function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}

export function isZone(name: string | null | undefined): name is string {
  if (!name) return false;
  try {
    new Intl.DateTimeFormat("en-GB", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** All time zones that the browser supports, UTC first; `also` is added if it is missing. */
export function zones(also?: string | null): string[] {
  const known = Intl.supportedValuesOf?.("timeZone") ?? [];
  return [...new Set(["UTC", ...(isZone(also) ? [also] : []), ...known])];
}

/** Offset of the zone's wall clock from UTC at the instant, in minutes. */
export function zoneOffsetMinutes(zone: string, ms: number): number {
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  }).formatToParts(ms);
  const of = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  const wall = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"));
  return Math.round((wall - Math.floor(ms / 1000) * 1000) / 60_000);
}

/** Instant of "2026-11-21T14:03:12" on the zone's wall clock; NaN if invalid. A repeated hour means its first. */
export function wallClockMs(text: string, zone: string): number {
  const wall = Date.parse(`${text}${/T\d\d:\d\d(:\d\d)?$/.test(text) ? "Z" : ""}`);
  if (Number.isNaN(wall)) return Number.NaN;
  // The offset before the wall-clock instant is right except in the hours around a change.
  const first = wall - zoneOffsetMinutes(zone, wall - 86_400_000) * 60_000;
  if (first + zoneOffsetMinutes(zone, first) * 60_000 === wall) return first;
  return wall - zoneOffsetMinutes(zone, wall + 86_400_000) * 60_000;
}
