// The services and environments of the top bar, as text of the URL: `service=shop,cart&env=production`.

export interface GlobalFilter {
  services: string[];
  environments: string[];
}

/** Pages about one object, and pages about no records: they have neither a time range nor this filter. */
const UNFILTERED = /\/(connect|settings(?:\/symbols)?|alerts(?:\/\w+)?|traces\/[^/]+|ai\/t\/[^/]+)$/;

/** Whether the page with this path has the time range and this filter in its top bar. */
export function isFiltered(path: string): boolean {
  return !UNFILTERED.test(path);
}

/** The server refuses more values. */
export const VALUES_MAX = 50;

/** Values joined by commas; a comma or backslash of a value has a backslash before it. Undefined without values. */
export function valuesText(values: readonly string[]): string | undefined {
  return values.length ? values.map((value) => value.replace(/[\\,]/g, "\\$&")).join(",") : undefined;
}

/** The values of a text, each once, at most VALUES_MAX. */
export function parseValues(text: string | undefined): string[] {
  const values = [...(text ?? "").matchAll(/(?:\\.|[^\\,])+/g)].map((match) => match[0].replace(/\\(.)/g, "$1"));
  return [...new Set(values)].slice(0, VALUES_MAX);
}

/** A valid text of the URL; undefined when it has no value. */
export function checkedValues(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? valuesText(parseValues(value)) : undefined;
}

/** The label of a control: its values as far as there is room for them. */
export function valuesLabel(all: string, values: readonly string[]): string {
  if (!values.length) return all;
  return values.length === 1 ? values[0] : `${values[0]} +${values.length - 1}`;
}

/** The value added, or removed when it is selected. */
export function toggled(values: readonly string[], value: string): string[] {
  return values.includes(value) ? values.filter((one) => one !== value) : [...values, value].slice(0, VALUES_MAX);
}
