// Types of rules, channels and monitors as the API describes them, and the values of their forms.
import type { ConfigField, ConfigType } from "./types";

/** A configuration as the API has it. */
export type Config = Record<string, unknown>;

/** A variable of a script; the id is of its row. */
export interface Variable {
  id: number;
  name: string;
  value: string;
}
export type FormValue = string | boolean | Variable[];
/** Values of the fields of a form, as typed, by key. */
export type FormValues = Record<string, FormValue>;

/** Label of a type, also of one that this release does not know; empty while the types are loaded. */
export function labelOf(types: ConfigType[] | undefined, name: string): string {
  return types === undefined ? "" : (types.find((type) => type.type === name)?.label ?? name);
}

/** The field of a key that the API describes. */
export function fieldAt(fields: ConfigField[], key: string): ConfigField {
  const found = fields.find((field) => field.key === key);
  if (!found) throw new Error(`The API describes no field ${key}`);
  return found;
}

const words = (value: unknown): string => (value === null || value === undefined ? "" : String(value));

function valueAt(config: Config, key: string): unknown {
  return key.split(".").reduce<unknown>((inner, part) => (inner as Config | null | undefined)?.[part], config);
}

function put(config: Config, key: string, value: unknown): void {
  const [first, ...rest] = key.split(".");
  if (rest.length === 0) config[first] = value;
  else {
    config[first] ??= {};
    put(config[first] as Config, rest.join("."), value);
  }
}

/** The configuration with which a new form begins. */
export function newConfig(fields: ConfigField[]): Config {
  const config: Config = {};
  for (const { key, suggested, default: usual } of fields) {
    const value = suggested ?? usual;
    if (value !== undefined) put(config, key, value);
  }
  return config;
}

/** Options of a choice, with the values that a select has. */
export function choicesOf({ options = [] }: ConfigField): { value: string; label: string }[] {
  return options.map(({ value, label }) => ({ value: words(value), label }));
}

function typed(field: ConfigField, value: unknown): FormValue {
  switch (field.kind) {
    case "boolean":
      return value === true;
    case "strings":
      return Array.isArray(value) ? value.join("\n") : "";
    case "integers":
      return Array.isArray(value) ? value.join(", ") : "";
    case "map":
      return Object.entries(value ?? {})
        .map((pair) => pair.join(": "))
        .join("\n");
    case "variables":
      return Object.entries(value ?? {}).map(([name, value], id) => ({ id, name, value: words(value) }));
    case "choice": {
      const choices = choicesOf(field);
      return choices.some((one) => one.value === words(value)) ? words(value) : (choices[0]?.value ?? "");
    }
    default:
      return words(value);
  }
}

/** A configuration as the fields of a form show it. */
export function toForm(fields: ConfigField[], config: Config): FormValues {
  const shown = fields.filter((field) => !field.hidden);
  return Object.fromEntries(shown.map((field) => [field.key, typed(field, valueAt(config, field.key))]));
}

/** Whether a form with these values shows the field. */
export function isShown({ hidden, when }: ConfigField, values: FormValues): boolean {
  return !hidden && (!when || when.values.some((value) => words(value) === words(values[when.key])));
}

/** Bounds that a number does not meet, in words. */
function beyond({ minimum, exclusiveMinimum, maximum }: ConfigField, value: number): string | null {
  const [least, above, most] = [minimum ?? null, exclusiveMinimum ?? null, maximum ?? null];
  const isRight =
    (least === null || value >= least) && (above === null || value > above) && (most === null || value <= most);
  if (isRight) return null;
  if (least !== null) return most === null ? `at least ${least}` : `${least} to ${most}`;
  if (above !== null) return most === null ? `above ${above}` : `above ${above} and at most ${most}`;
  return `at most ${most}`;
}

type Read = { value: unknown } | { error: string };

function readNumber(field: ConfigField, entered: string): Read {
  const { label, kind, required } = field;
  if (entered === "") {
    if (required) return { error: `${label} is missing.` };
    const isOptional = field.default === null || field.default === undefined;
    return isOptional ? { value: null } : { error: `${label} is a number.` };
  }
  const value = Number(entered);
  if (kind !== "number" && !Number.isInteger(value)) return { error: `${label} is a whole number.` };
  if (!Number.isFinite(value)) return { error: `${label} is a number.` };
  const bounds = beyond(field, value);
  return bounds ? { error: `${label} is ${bounds}.` } : { value };
}

function read(field: ConfigField, value: FormValue): Read {
  const { label, kind, required } = field;
  if (typeof value === "boolean") return { value };
  if (typeof value !== "string") return { value: Object.fromEntries(value.map((one) => [one.name.trim(), one.value])) };
  const entered = value.trim();
  switch (kind) {
    case "choice":
      return { value: field.options?.find((option) => words(option.value) === value)?.value ?? null };
    case "number":
    case "integer":
    case "seconds":
    case "policy":
      return readNumber(field, entered);
    case "integers": {
      const numbers = entered.split(/[\s,]+/).filter(Boolean);
      if (!numbers.every((one) => /^\d+$/.test(one))) return { error: `${label}: whole numbers, with commas between.` };
      return { value: numbers.map(Number) };
    }
  }
  if (required && entered === "") return { error: `${label} is missing.` };
  const lines = value
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  if (kind === "strings") return { value: lines };
  if (kind === "map") {
    const pairs = lines.map((line) => /^([^:\s]+)\s*:\s*(.*)$/.exec(line));
    if (pairs.includes(null)) return { error: `${label}: a line is a name, a colon and a value.` };
    return { value: Object.fromEntries(pairs.map((pair) => [pair?.[1], pair?.[2]])) };
  }
  // Spaces around an optional string may be meant, such as in a payload.
  return { value: kind === "url" || (required && kind !== "script") ? entered : value };
}

/** The configuration of a form, or the first fault. Hidden values are kept from `before`. */
export function fromForm(
  fields: ConfigField[],
  values: FormValues,
  before: Config = {},
): { config: Config } | { error: string } {
  const config: Config = {};
  for (const field of fields) {
    if (field.hidden) {
      const kept = valueAt(before, field.key);
      if (kept !== undefined) put(config, field.key, kept);
    } else if (isShown(field, values)) {
      const found = read(field, values[field.key]);
      if ("error" in found) return found;
      put(config, field.key, found.value);
    }
  }
  return { config };
}

/** The form of another type: what was changed in a field that both types have is kept. */
export function carriedOver(before: ConfigType, values: FormValues, next: ConfigType): FormValues {
  const [old, begun] = [toForm(before.fields, newConfig(before.fields)), toForm(next.fields, newConfig(next.fields))];
  for (const { key, kind } of next.fields) {
    const had = before.fields.find((field) => field.key === key);
    if (had?.kind === kind && !had.hidden && values[key] !== old[key]) begun[key] = values[key];
  }
  return begun;
}
