// The rows of a live tail: the latest ones, and the number of those left out.
import { quoted, quotedKey } from "./query";
import { type AttributeFilter, scoped } from "./search";
import type { LogRow } from "./types";

/** Rows that the page keeps; earlier ones leave the list. */
export const LIVE_ROWS_MAX = 1000;

/** A row of a live tail, with a number of its own: equal records have equal ids. */
export type LiveRow = LogRow & { number: number };

export interface LiveState {
  shown: LiveRow[];
  /** Rows that arrived during a pause. */
  held: LiveRow[];
  paused: boolean;
  /** Rows that arrived in all. */
  arrived: number;
  /** Records that the server left out: too many per second, or it could not keep up. */
  leftOut: number;
}

export const EMPTY: LiveState = { shown: [], held: [], paused: false, arrived: 0, leftOut: 0 };

export type LiveChange =
  | { type: "logs"; data: LogRow[]; skipped: number; missed: number }
  | { type: "pause" }
  | { type: "resume" }
  | { type: "clear" };

export function liveLogs(state: LiveState, change: LiveChange): LiveState {
  switch (change.type) {
    case "logs": {
      const rows = change.data.map((row, i) => ({ ...row, number: state.arrived + i }));
      const arrived = state.arrived + rows.length;
      const leftOut = state.leftOut + change.skipped + change.missed;
      if (state.paused) return { ...state, held: latest(state.held, rows), arrived, leftOut };
      return { ...state, shown: latest(state.shown, rows), arrived, leftOut };
    }
    case "pause":
      return { ...state, paused: true };
    case "resume":
      return { ...state, paused: false, shown: latest(state.shown, state.held), held: [] };
    case "clear":
      return { ...state, shown: [], held: [], leftOut: 0 };
  }
}

function latest(old: LiveRow[], more: LiveRow[]): LiveRow[] {
  return [...old, ...more].slice(-LIVE_ROWS_MAX);
}

interface LogFilters {
  query: string;
  level?: string;
  service?: string;
  trace?: string;
  filters: AttributeFilter[];
}

/** One query with the same meaning as the filters of the page. `shift`: bytes before the typed query. */
export function wholeQuery({ query, level, service, trace, filters }: LogFilters): { query: string; shift: number } {
  const more = filters.map(scoped).map(({ scope, key, value }) => {
    const level = scope === "any" ? "" : scope === "log" ? "record." : `${scope}.`;
    return `${level}${quotedKey(key)}=${quoted(value)}`;
  });
  if (level) more.push(`level>=${level.toLowerCase()}`);
  if (service) more.push(`service=${quoted(service)}`);
  if (trace) more.push(`trace:${trace}`);
  const typed = query.trim();
  if (!more.length) return { query: typed, shift: 0 };
  if (!typed) return { query: more.join(" "), shift: 0 };
  return { query: `(${typed}) ${more.join(" ")}`, shift: 1 };
}
