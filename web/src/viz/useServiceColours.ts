// Colours of services, stored in this browser, so that a service has the same colour on every page.
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { type Assigned, assign, readAssigned } from "../model/service-colours";

const KEY = "tidewatch.colours";
let assigned: Assigned = readAssigned(localStorage.getItem(KEY));
const listeners = new Set<() => void>();

function keep(next: Assigned): void {
  if (next === assigned) return;
  assigned = next;
  localStorage.setItem(KEY, JSON.stringify(next));
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  const other = (event: StorageEvent) => {
    if (event.key !== KEY) return;
    assigned = readAssigned(event.newValue);
    listener();
  };
  listeners.add(listener);
  addEventListener("storage", other);
  return () => {
    listeners.delete(listener);
    removeEventListener("storage", other);
  };
}

/** Returns the palette slot of each service. `names` are in order of importance. */
export function useServiceColours(names: string[]): (name: string) => number {
  const known = useSyncExternalStore(subscribe, () => assigned);
  const wanted = names.filter(Boolean).join("\n");
  // Rendered with the assignments that the effect below stores.
  const all = useMemo(() => assign(known, listed(wanted)), [known, wanted]);
  useEffect(() => keep(assign(assigned, listed(wanted))), [wanted]);
  return (name) => all[name] ?? -1;
}

const listed = (text: string) => (text ? text.split("\n") : []);
