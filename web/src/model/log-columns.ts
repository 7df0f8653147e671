// Columns of the list of logs: attributes, and fields of bodies that are JSON objects (docs/use/query-language.md).
import type { LogRow } from "../api/types";

/** Columns that a list shows at most; further ones in an address are ignored. */
export const COLUMNS_MAX = 8;

export function parseColumns(value: string | undefined): string[] {
  const keys = (value ?? "").split(",").map((key) => decodeURIComponent(key.trim()));
  return [...new Set(keys.filter(Boolean))].slice(0, COLUMNS_MAX);
}

export function columnsText(keys: string[]): string | undefined {
  return keys.length ? keys.map((key) => key.replaceAll("%", "%25").replaceAll(",", "%2C")).join(",") : undefined;
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The JSON object of a body; null for any other body. Large ones are not parsed. */
export function jsonBody(body: string): { [key: string]: Json } | null {
  if (!/^\s*\{/.test(body) || body.length > 200_000) return null;
  try {
    const value: unknown = JSON.parse(body);
    return value && typeof value === "object" && !Array.isArray(value) ? (value as { [key: string]: Json }) : null;
  } catch {
    return null;
  }
}

/** The value at a path of keys joined by dots; the longest key takes precedence, as in queries. */
export function atPath(value: Json | undefined, path: string): Json | undefined {
  if (value === null || typeof value !== "object") return undefined;
  if (Array.isArray(value)) {
    const dot = path.indexOf(".");
    const index = Number(dot < 0 ? path : path.slice(0, dot));
    const element = Number.isInteger(index) ? value[index] : undefined;
    return dot < 0 ? element : atPath(element, path.slice(dot + 1));
  }
  for (let end = path.length; end > 0; end = path.lastIndexOf(".", end - 1)) {
    const key = path.slice(0, end);
    if (!Object.hasOwn(value, key)) continue;
    const found = end === path.length ? value[key] : atPath(value[key], path.slice(end + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

export function jsonText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The value of a column in a row; "" when the row lacks it. */
export function cellOf(row: LogRow, key: string): string {
  if (key.startsWith("body.")) {
    const found = atPath(jsonBody(row.body) ?? undefined, key.slice(5));
    if (found !== undefined && found !== null) return jsonText(found);
  }
  for (const [scope, attributes] of [
    ["record", row.logAttributes],
    ["scope", row.scopeAttributes],
    ["resource", row.resourceAttributes],
  ] as const) {
    if (attributes[key] !== undefined) return attributes[key];
    if (key.startsWith(`${scope}.`) && attributes[key.slice(scope.length + 1)] !== undefined)
      return attributes[key.slice(scope.length + 1)];
  }
  return FIELDS[key]?.(row) ?? "";
}

const FIELDS: Record<string, (row: LogRow) => string> = {
  trace: (row) => row.traceId,
  span: (row) => row.spanId,
  event: (row) => row.eventName,
  scope: (row) => row.scopeName,
};

/** Keys that rows have, the most frequent first: candidates for columns. */
export function columnKeys(rows: LogRow[], most = 60): string[] {
  const counts = new Map<string, number>();
  const add = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const row of rows.slice(0, 300)) {
    for (const key of Object.keys(row.logAttributes)) add(key);
    for (const key of Object.keys(row.scopeAttributes)) add(key);
    for (const key of Object.keys(row.resourceAttributes)) add(key);
    const body = jsonBody(row.body);
    if (body) paths(body, "body", 3).forEach(add);
  }
  return [...counts]
    .sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
    .map(([key]) => key)
    .slice(0, most);
}

function paths(value: { [key: string]: Json }, prefix: string, depth: number): string[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = `${prefix}.${key}`;
    if (inner === null || Array.isArray(inner)) return [];
    return typeof inner === "object" ? (depth > 1 ? paths(inner, path, depth - 1) : []) : [path];
  });
}
