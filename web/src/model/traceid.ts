/** 32 hex digits, with or without UUID dashes, in any case -> 32 lower-case digits; null if it is not a trace id. */
export function asTraceId(text: string): string | null {
  const bare = text.trim().replaceAll("-", "").toLowerCase();
  return /^[0-9a-f]{32}$/.test(bare) && !/^0+$/.test(bare) ? bare : null;
}
