// The time that the pointer is at: one for all charts inside a <SharedCursor>, else one per chart.
import { createContext, type ReactNode, useContext, useMemo, useState } from "react";

interface Cursor {
  /** Start of the slot, milliseconds; null when the pointer is elsewhere. */
  ms: number | null;
  moveTo: (ms: number | null) => void;
}
const Context = createContext<Cursor | null>(null);

export function SharedCursor({ children }: { children: ReactNode }) {
  const [ms, moveTo] = useState<number | null>(null);
  const value = useMemo(() => ({ ms, moveTo }), [ms]);
  return <Context.Provider value={value}>{children}</Context.Provider>;
}

/** The slot under the pointer, in this chart or one beside it, and how to move it. */
export function useCursor(starts: number[], intervalMs: number): [number | null, (slot: number | null) => void] {
  const shared = useContext(Context);
  const [own, setOwn] = useState<number | null>(null);
  const ms = shared ? shared.ms : own;
  const moveTo = shared ? shared.moveTo : setOwn;
  const at = ms === null || !starts.length ? -1 : Math.floor((ms - starts[0]) / intervalMs + 1e-9);
  return [at >= 0 && at < starts.length ? at : null, (slot) => moveTo(slot === null ? null : (starts[slot] ?? null))];
}
