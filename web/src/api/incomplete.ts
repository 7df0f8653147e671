// Which answers lacked rows, by path: the server says so with a header. Damaged rows were set aside by an operator.
import { useSyncExternalStore } from "react";

const HEADER = "tidewatch-incomplete";
const lacking = new Set<string>();
const listeners = new Set<() => void>();

/** Called with every answer of the server. */
export function noteAnswer(path: string, headers: Headers): void {
  const before = lacking.size;
  if (headers.has(HEADER)) lacking.add(path);
  else lacking.delete(path);
  if (lacking.size !== before) for (const tell of listeners) tell();
}

/** Whether the last answer to any of the questions asked so far lacked rows. */
export function useIsIncomplete(): boolean {
  return useSyncExternalStore(subscribe, () => lacking.size > 0);
}

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}
