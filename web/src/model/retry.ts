// When a refused call may be made again.

/** Seconds from a Retry-After header: a number, or a date (RFC 9110, 10.2.3). Null when it says nothing. */
export function retryAfterSeconds(header: string | null, nowMs: number): number | null {
  if (!header) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) || null;
  const at = Date.parse(header);
  return Number.isNaN(at) || at <= nowMs ? null : Math.ceil((at - nowMs) / 1000);
}

/** Whole seconds until `untilMs`, rounded up so that a button never wakes early; 0 when over. */
export function secondsLeft(untilMs: number, nowMs: number): number {
  return Math.max(0, Math.ceil((untilMs - nowMs) / 1000));
}
