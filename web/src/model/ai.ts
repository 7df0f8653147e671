// Groupings and flags of AI traces in words.
import type { AiFlag, AiGrouping } from "../api/types";
import { termOf } from "./query";

export interface Grouping {
  value: AiGrouping;
  /** In the choice of groupings. */
  label: string;
  /** Plural of the listed values. */
  noun: string;
  /** Shown for rows without a value. */
  none: string;
  /** Field of the query language that selects the rows of a group. */
  field: string;
}

export const GROUPINGS: Grouping[] = [
  { value: "name", label: "Name", noun: "names", none: "No name", field: "name" },
  { value: "model", label: "Model", noun: "models", none: "No model", field: "model" },
  { value: "provider", label: "Provider", noun: "providers", none: "No provider", field: "provider" },
  { value: "user", label: "User", noun: "users", none: "No user", field: "user" },
  { value: "prompt", label: "Prompt", noun: "prompts", none: "No prompt name", field: "prompt" },
  { value: "service", label: "Service", noun: "services", none: "No service", field: "service" },
  {
    value: "conversation",
    label: "Conversation",
    noun: "conversations",
    none: "No conversation",
    field: "conversation",
  },
];

export function groupingOf(value: string | undefined): Grouping {
  return GROUPINGS.find((one) => one.value === value) ?? GROUPINGS[0];
}

/** The query that selects the rows of a group; the group without a value has no name. */
export function queryOf(grouping: Grouping, name: string): string {
  return name ? termOf(grouping.field, name) : `-has:${grouping.field}`;
}

/** Words of each flag. docs/use/ai-traces.md has the rules. */
export const FLAGS: Record<AiFlag, { word: string; tip: string; tone: "warn" | "error" }> = {
  truncated: { word: "cut off", tip: "A limit of tokens ended the answer.", tone: "warn" },
  content_filter: { word: "filtered", tip: "A filter of the provider removed or blocked content.", tone: "warn" },
  refused: { word: "refused", tip: "The model declined to answer.", tone: "warn" },
  empty_answer: { word: "empty answer", tip: "The call did not fail, but has no answer.", tone: "warn" },
  invalid_tool_call: { word: "invalid tool call", tip: "The model called a tool in a malformed way.", tone: "warn" },
  tool_error: { word: "tool failed", tip: "The run of a tool failed.", tone: "error" },
  flagged_content: {
    word: "flagged content",
    tip: "The conversation has a term of the project's word lists.",
    tone: "error",
  },
};

export const ALL_FLAGS = Object.keys(FLAGS) as AiFlag[];

/** The flags that a search parameter selects: one, or all for "any". */
export function flagsOf(value: string | undefined): AiFlag[] {
  if (value === "any") return ALL_FLAGS;
  return ALL_FLAGS.filter((flag) => flag === value);
}
