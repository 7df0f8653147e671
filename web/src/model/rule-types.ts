// The configurations of rules.
import { type Config, labelOf, newConfig } from "./config-fields";
import type { ConfigType } from "./types";

/** The label of the type of a notification's rule: changes of monitors have none of the types. */
export function ruleTypeLabel(types: ConfigType[] | undefined, name: string): string {
  return name === "monitor" ? "Monitor" : labelOf(types, name);
}

/** The configuration of a form that an address prefills: known keys over those of a new form. */
export function prefilled(type: ConfigType, given: string | undefined): Config {
  const usual = newConfig(type.fields);
  if (!given) return usual;
  try {
    const parsed: unknown = JSON.parse(given);
    if (typeof parsed !== "object" || parsed === null) return usual;
    const known = Object.entries(parsed).filter(([key]) => type.fields.some((field) => field.key === key));
    return { ...usual, ...Object.fromEntries(known) };
  } catch {
    return usual;
  }
}
