// The time under the pointer: shared by all charts inside a <SharedCursor>, otherwise one per chart.
import { createContext, type MouseEvent, type ReactNode, useContext, useMemo, useState } from "react";
import { FRAME } from "./frame";

interface Cursor {
  /** Start of the slot in milliseconds; null if the pointer is not over a chart. */
  ms: number | null;
  moveTo: (ms: number | null) => void;
}
const Context = createContext<Cursor | null>(null);

export function SharedCursor({ children }: { children: ReactNode }) {
  const [ms, moveTo] = useState<number | null>(null);
  const value = useMemo(() => ({ ms, moveTo }), [ms]);
  return <Context.Provider value={value}>{children}</Context.Provider>;
}

/** Returns the slot under the pointer, in this chart or in one with the same cursor, and a setter. */
export function useCursor(starts: number[], intervalMs: number): [number | null, (slot: number | null) => void] {
  const shared = useContext(Context);
  const [own, setOwn] = useState<number | null>(null);
  const ms = shared ? shared.ms : own;
  const moveTo = shared ? shared.moveTo : setOwn;
  const at = ms === null || !starts.length ? -1 : Math.floor((ms - starts[0]) / intervalMs + 1e-9);
  return [at >= 0 && at < starts.length ? at : null, (slot) => moveTo(slot === null ? null : (starts[slot] ?? null))];
}

/** The slot under the pointer, in a plot of `count` slots whose handler this is called in. */
export function slotAt(event: MouseEvent, count: number): number {
  const { left, width } = event.currentTarget.getBoundingClientRect();
  const step = Math.max(10, width - FRAME.left - FRAME.right) / count;
  return Math.max(0, Math.min(count - 1, Math.floor((event.clientX - left - FRAME.left) / step)));
}
