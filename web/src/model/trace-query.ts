// The query of a search for traces: the text in the bar, and conditions of older links and of other pages.

import { quoted, quotedKey } from "./query";
import { parseFilters } from "./search";

interface Search {
  q?: string;
  kind?: number;
  status?: number;
  attr?: string;
}

/** Whether the query has conditions in braces, each on one span. */
export function hasBraces(query: string): boolean {
  return query.replace(/\\.|"(?:\\.|[^"\\])*"?/g, "").includes("{");
}

/** Conditions besides the text are those of one span; the text comes first, so that positions of errors fit. */
export function traceQuery({ q = "", kind, status, attr }: Search): string {
  const more = [
    kind === undefined ? "" : `kind:${kind}`,
    status === undefined ? "" : `status:${status}`,
    ...parseFilters(attr).map(({ key, value }) => `${quotedKey(key)}:${quoted(value)}`),
  ].filter(Boolean);
  if (!more.length || !q.trim()) return q.trim() ? q : more.join(" ");
  if (hasBraces(q)) return `${q} {${more.join(" ")}}`;
  return / OR /.test(q) ? `(${q}) ${more.join(" ")}` : `${q} ${more.join(" ")}`;
}
