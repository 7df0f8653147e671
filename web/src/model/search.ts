// Parses and serializes URL search parameters. Unknown keys are ignored, invalid values fall back to defaults and
// empty values are omitted, so that links stay short and old links keep working.

/** Search parameters of the address, before they are validated. */
export type Raw = Record<string, unknown>;

export type SearchText = Record<string, string | undefined>;

export function parseSearch(text: string): SearchText {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const out = new URLSearchParams();
  for (const [key, value] of Object.entries(search)) {
    if (value === undefined || value === null || value === "" || value === false) continue;
    out.set(key, value === true ? "1" : String(value));
  }
  const text = out.toString().replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%2F", "/");
  return text ? `?${text}` : "";
}

export function text(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function oneOf<T extends string>(value: unknown, allowed: readonly T[]): T | undefined {
  return allowed.includes(value as T) ? (value as T) : undefined;
}

/** Whole number of at least `least`; undefined otherwise. */
export function whole(value: unknown, least = 0): number | undefined {
  const number =
    typeof value === "number" ? value : typeof value === "string" && value !== "" ? Number(value) : Number.NaN;
  return Number.isInteger(number) && number >= least ? number : undefined;
}

export function positive(value: unknown): number | undefined {
  const number = value === undefined || value === "" ? Number.NaN : Number(value);
  return Number.isFinite(number) && number >= 0 ? number : undefined;
}

export function flag(value: unknown): true | undefined {
  return value === true || value === "1" || value === "true" ? true : undefined;
}

/** "-p95Duration" -> {by, desc}: a leading minus means descending. */
export interface Sort<T extends string = string> {
  by: T;
  desc: boolean;
}
export function parseSort<T extends string>(
  value: string | undefined,
  allowed: readonly T[],
  fallback: Sort<T>,
): Sort<T> {
  if (!value) return fallback;
  const desc = value.startsWith("-");
  const by = oneOf(desc ? value.slice(1) : value, allowed);
  return by ? { by, desc } : fallback;
}
export function sortText(sort: Sort): string {
  return `${sort.desc ? "-" : ""}${sort.by}`;
}

export interface AttributeFilter {
  key: string;
  value: string;
}
/** Parses `http.method=GET` lines separated by newlines; a value may contain "=". */
export function parseFilters(value: string | undefined): AttributeFilter[] {
  return (value ?? "")
    .split("\n")
    .map((line) => /^([^=]+)=(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map((match) => ({ key: match[1].trim(), value: match[2] }))
    .filter((filter) => filter.key !== "");
}
export function filtersText(filters: AttributeFilter[]): string | undefined {
  return filters.length ? filters.map((filter) => `${filter.key}=${filter.value}`).join("\n") : undefined;
}

/** "resource:host.name" -> scope and key; scope "any" without a known prefix. */
export function scoped(filter: AttributeFilter): AttributeFilter & { scope: "resource" | "scope" | "log" | "any" } {
  const match = /^(resource|scope|log):(.+)$/.exec(filter.key);
  if (!match) return { scope: "any", ...filter };
  return { scope: match[1] as "resource" | "scope" | "log", key: match[2], value: filter.value };
}
