// Paths whose last response lacked rows, as reported by a response header. An operator set the damaged rows aside.
import { useSyncExternalStore } from "react";

const HEADER = "tidewatch-incomplete";
const incompletePaths = new Set<string>();
const listeners = new Set<() => void>();

/** Records whether a response lacked rows. Called for every successful response. */
export function recordResponse(path: string, headers: Headers): void {
  const before = incompletePaths.size;
  if (headers.has(HEADER)) incompletePaths.add(path);
  else incompletePaths.delete(path);
  if (incompletePaths.size !== before) for (const listener of listeners) listener();
}

/** Whether the last response of any requested path lacked rows. */
export function useIsIncomplete(): boolean {
  return useSyncExternalStore(subscribe, () => incompletePaths.size > 0);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
