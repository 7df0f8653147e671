// When a rejected request may be retried.

/** Seconds of a Retry-After header: a number, or a date (RFC 9110, 10.2.3). Null if absent or invalid. */
export function retryAfterSeconds(header: string | null, nowMs: number): number | null {
  if (!header) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) || null;
  const at = Date.parse(header);
  return Number.isNaN(at) || at <= nowMs ? null : Math.ceil((at - nowMs) / 1000);
}

/** Whole seconds until `untilMs`, rounded up so that no button is enabled too early; 0 if it has passed. */
export function secondsLeft(untilMs: number, nowMs: number): number {
  return Math.max(0, Math.ceil((untilMs - nowMs) / 1000));
}
