// The colours of services, remembered in this browser, so that a service looks the same on every page.
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { type Assigned, assign, readAssigned } from "../model/service-colours";

const KEY = "tidewatch.colours";
let assigned: Assigned = readAssigned(localStorage.getItem(KEY));
const listeners = new Set<() => void>();

function keep(next: Assigned): void {
  if (next === assigned) return;
  assigned = next;
  localStorage.setItem(KEY, JSON.stringify(next));
  for (const tell of listeners) tell();
}

function subscribe(tell: () => void): () => void {
  const other = (event: StorageEvent) => {
    if (event.key !== KEY) return;
    assigned = readAssigned(event.newValue);
    tell();
  };
  listeners.add(tell);
  addEventListener("storage", other);
  return () => {
    listeners.delete(tell);
    removeEventListener("storage", other);
  };
}

/** Palette slot of each of these services, the most important first. */
export function useServiceColours(names: string[]): (name: string) => number {
  const known = useSyncExternalStore(subscribe, () => assigned);
  const wanted = names.filter(Boolean).join("\n");
  // Drawn with what they will be remembered with.
  const all = useMemo(() => assign(known, listed(wanted)), [known, wanted]);
  useEffect(() => keep(assign(assigned, listed(wanted))), [wanted]);
  return (name) => all[name] ?? -1;
}

const listed = (text: string) => (text ? text.split("\n") : []);
