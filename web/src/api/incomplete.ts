// Paths whose last response lacked rows, as reported by a response header. An operator set the damaged rows aside.
import { useSyncExternalStore } from "react";

const HEADER = "tidewatch-incomplete";
/** Reason for which a path's answer lacks rows. */
const incompletePaths = new Map<string, string>();
const listeners = new Set<() => void>();

/** Records whether a response lacked rows. Called for every successful response. */
export function recordResponse(path: string, headers: Headers): void {
  const [before, why] = [incompletePaths.get(path), headers.get(HEADER) ?? undefined];
  if (why === undefined) incompletePaths.delete(path);
  else incompletePaths.set(path, why);
  if (why !== before) for (const listener of listeners) listener();
}

/**
 * Parts that the last responses of the requested paths lack: damaged rows, or spans that a
 * condition did not look at.
 */
export function useLacks(): "rows" | "spans" | null {
  return useSyncExternalStore(subscribe, () => {
    const reasons = [...incompletePaths.values()];
    if (!reasons.length) return null;
    return reasons.every((why) => why.startsWith("child")) ? "spans" : "rows";
  });
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
