// Saved views: the pages that have them, and their query strings. A query string is compared by its parameters, so that
// their order does not matter.
import { parseSearch, type SearchText, stringifySearch } from "./search";
import type { SavedView, SavedViewPage } from "./types";

/** Path of each page below the project, and what a reader calls it. */
export const VIEW_PAGES = {
  overview: { to: "/p/$pid", label: "Overview" },
  endpoints: { to: "/p/$pid/endpoints", label: "Endpoints" },
  tasks: { to: "/p/$pid/tasks", label: "Tasks" },
  ai: { to: "/p/$pid/ai", label: "AI traces" },
  issues: { to: "/p/$pid/issues", label: "Issues" },
  sessions: { to: "/p/$pid/sessions", label: "Sessions" },
  traces: { to: "/p/$pid/traces", label: "Traces" },
  logs: { to: "/p/$pid/logs", label: "Logs" },
  metrics: { to: "/p/$pid/metrics", label: "Metrics" },
  profiles: { to: "/p/$pid/profiles", label: "Profiles" },
} as const satisfies Record<SavedViewPage, { to: string; label: string }>;

/** The page of a path; undefined for pages without saved views. */
export function viewPage(path: string): SavedViewPage | undefined {
  const rest = path.replace(/^\/p\/[^/]+/, "/p/$pid").replace(/\/$/, "");
  const found = Object.entries(VIEW_PAGES).find(([, page]) => page.to === rest);
  return found?.[0] as SavedViewPage | undefined;
}

/** Parameters that links between pages keep: a view without one has its default. */
const KEPT = ["from", "to", "every", "cmp"] as const;
/** Parameters of the moment: the page of a list, a live tail. */
const MOMENTARY = ["page", "live"];

/** The query string to save, without the question mark: relative times stay relative. */
export function savedSearch(search: string): string {
  const kept = Object.entries(parseSearch(search)).filter(([key]) => !MOMENTARY.includes(key));
  return stringifySearch(Object.fromEntries(kept)).replace(/^\?/, "");
}

/** Search parameters that open a view. Routes validate them: unknown ones are ignored. */
export function openedSearch(view: SavedView): SearchText {
  return { ...Object.fromEntries(KEPT.map((key) => [key, undefined])), ...parseSearch(view.search) };
}

/** Whether two query strings have the same parameters. */
export function sameSearch(one: string, other: string): boolean {
  const sorted = (search: string) => JSON.stringify(Object.entries(parseSearch(savedSearch(search))).sort());
  return sorted(one) === sorted(other);
}

/** Whether a query string has nothing but the time range and the like. */
export function isPlain(search: string): boolean {
  return Object.keys(parseSearch(savedSearch(search))).every((key) => (KEPT as readonly string[]).includes(key));
}

export interface OpenView {
  view: SavedView;
  /** The address differs from the view. */
  changed: boolean;
}

/** The open view of a page: one that equals the address, else the one opened last, unless the page starts afresh. */
export function openView(views: SavedView[], search: string, lastId: number | undefined): OpenView | undefined {
  const equal = views.filter((view) => sameSearch(view.search, search));
  const same = equal.find((view) => view.id === lastId) ?? equal[0];
  if (same) return { view: same, changed: false };
  const last = views.find((view) => view.id === lastId);
  return last && !isPlain(search) ? { view: last, changed: true } : undefined;
}
