// The types of notification rules: their names, and the fields of their configurations.

export type RuleValue = string | number | string[] | number[] | Record<string, string> | null;
export type RuleConfig = Record<string, RuleValue>;

export interface RuleField {
  key: string;
  label: string;
  kind: "text" | "number" | "lines" | "select";
  hint?: string;
  unit?: string;
  options?: { value: string; label: string }[];
  /** The field is shown when the configuration passes. */
  shown?: (config: RuleConfig) => boolean;
}

export interface RuleType {
  value: string;
  label: string;
  group: string;
  about: string;
  fields: RuleField[];
  defaults: RuleConfig;
}

const number = (key: string, label: string, unit?: string, hint?: string): RuleField => ({
  key,
  label,
  kind: "number",
  unit,
  hint,
});
const name = (key: string, label: string): RuleField => ({
  key,
  label,
  kind: "text",
  hint: "* stands for any characters.",
});
const lookback = number("lookbackMinutes", "Measured over", "minutes");

const OPERATORS = [
  { value: "gt", label: "is above" },
  { value: "gte", label: "is at least" },
  { value: "lt", label: "is below" },
  { value: "lte", label: "is at most" },
  { value: "eq", label: "equals" },
];
const AGGREGATIONS = ["avg", "max", "min", "sum", "p95", "p99", "last"].map((value) => ({ value, label: value }));
const isRows = (config: RuleConfig) => config.rows !== null;
const isMetric = (config: RuleConfig) => config.rows === null;

const latency = (percentile: string): RuleType => ({
  value: `endpoint_p${percentile}_threshold`,
  label: `P${percentile} of an endpoint`,
  group: "Endpoints",
  about: `The P${percentile} of an endpoint's durations reaches a threshold.`,
  fields: [name("endpoint", "Endpoint"), number("thresholdMs", "Threshold", "ms"), lookback],
  defaults: { endpoint: "*", thresholdMs: 500, lookbackMinutes: 5 },
});
const impact = (level: string, least: string): RuleType => ({
  value: `impact_score_${level}`,
  label: `Impact becomes ${level}`,
  group: "Endpoints",
  about: `The impact of an endpoint over 24 hours rises to ${least} or more. It fires when the level changes only.`,
  fields: [number("minRequests", "Requests at least")],
  defaults: { minRequests: 50 },
});

export const RULE_TYPES: RuleType[] = [
  {
    value: "new_error",
    label: "New issue",
    group: "Issues",
    about: "An issue occurs for the first time, or again after it was archived.",
    fields: [
      {
        key: "ignorePatterns",
        label: "Ignored titles",
        kind: "lines",
        hint: "One per line: a part of the title, or a pattern with *.",
      },
    ],
    defaults: { ignorePatterns: [] },
  },
  {
    value: "error_regression",
    label: "Issue is back",
    group: "Issues",
    about: "An issue occurs again after it was resolved or archived.",
    fields: [],
    defaults: {},
  },
  {
    value: "issue_spike",
    label: "Issue spike",
    group: "Issues",
    about: "An issue occurs more often than usual.",
    fields: [
      { key: "exceptionHash", label: "Issue", kind: "text", hint: "The hash of the issue; * is any issue." },
      number("factor", "Times as often as usual", "×"),
      number("minCount", "Occurrences at least"),
      lookback,
      number("baselineHours", "Usual over", "hours"),
    ],
    defaults: { exceptionHash: "*", factor: 5, minCount: 20, lookbackMinutes: 10, baselineHours: 24 },
  },
  {
    value: "error_count_threshold",
    label: "Exceptions",
    group: "Issues",
    about: "Exceptions of all issues reach a number. Captured messages are not counted.",
    fields: [number("thresholdCount", "Exceptions"), lookback],
    defaults: { thresholdCount: 100, lookbackMinutes: 60 },
  },
  {
    value: "error_rate_threshold",
    label: "Error rate",
    group: "Endpoints",
    about: "The share of the project's requests with a status of 500 and above.",
    fields: [number("thresholdPercent", "Threshold", "%"), lookback, number("minRequests", "Requests at least")],
    defaults: { thresholdPercent: 5, lookbackMinutes: 5, minRequests: 10 },
  },
  {
    value: "endpoint_error_rate",
    label: "Error rate of an endpoint",
    group: "Endpoints",
    about: "The share of an endpoint's requests with a status of 500 and above.",
    fields: [
      name("endpoint", "Endpoint"),
      number("thresholdPercent", "Threshold", "%"),
      lookback,
      number("minRequests", "Requests at least"),
    ],
    defaults: { endpoint: "*", thresholdPercent: 2, lookbackMinutes: 10, minRequests: 20 },
  },
  latency("95"),
  latency("99"),
  {
    value: "apdex_drop",
    label: "Apdex drops",
    group: "Endpoints",
    about: "The Apdex of the project falls below a threshold (750 and 1500 ms).",
    fields: [number("thresholdApdex", "Threshold"), lookback, number("minRequests", "Requests at least")],
    defaults: { thresholdApdex: 0.85, lookbackMinutes: 15, minRequests: 50 },
  },
  {
    value: "throughput_drop",
    label: "Throughput drops",
    group: "Endpoints",
    about: "The project gets fewer requests than just before.",
    fields: [
      number("dropPercent", "Drop", "%"),
      lookback,
      number("baselineMinutes", "Compared with", "minutes before"),
    ],
    defaults: { dropPercent: 50, lookbackMinutes: 15, baselineMinutes: 60 },
  },
  impact("critical", "0.75"),
  impact("high", "0.50"),
  impact("medium", "0.25"),
  {
    value: "slo_burn",
    label: "Error budget burns",
    group: "Endpoints",
    about:
      "An objective is missed fast: 14.4 times the sustainable rate over 1 hour and 5 minutes, or 6 times over 6 hours and 30 minutes.",
    fields: [
      {
        key: "kind",
        label: "Of",
        kind: "select",
        options: [
          { value: "endpoint", label: "Endpoints" },
          { value: "task", label: "Tasks" },
        ],
      },
      name("name", "Name"),
      number("objectivePercent", "Objective: good ones", "%"),
      number("minRequests", "Calls an hour at least"),
    ],
    defaults: { kind: "endpoint", name: "*", objectivePercent: 99.9, minRequests: 50 },
  },
  {
    value: "task_failure_rate",
    label: "Failure rate of a task",
    group: "Tasks",
    about: "The failed share of a task's runs.",
    fields: [
      name("taskName", "Task"),
      number("thresholdPercent", "Threshold", "%"),
      lookback,
      number("minExecutions", "Runs at least"),
    ],
    defaults: { taskName: "*", thresholdPercent: 10, lookbackMinutes: 60, minExecutions: 5 },
  },
  {
    value: "task_duration_threshold",
    label: "Duration of a task",
    group: "Tasks",
    about: "The P95 of a task's durations reaches a threshold.",
    fields: [name("taskName", "Task"), number("thresholdMs", "Threshold", "ms"), lookback],
    defaults: { taskName: "*", thresholdMs: 30000, lookbackMinutes: 30 },
  },
  {
    value: "ai_trace_cost",
    label: "Cost of an AI call",
    group: "AI",
    about: "One AI call costs as much as a threshold.",
    fields: [name("traceName", "Name"), number("thresholdCost", "Threshold", "USD")],
    defaults: { traceName: "*", thresholdCost: 0.5 },
  },
  {
    value: "ai_conversation_cost",
    label: "Cost of a conversation",
    group: "AI",
    about: "The calls of a conversation in 24 hours cost as much as a threshold.",
    fields: [number("thresholdCost", "Threshold", "USD")],
    defaults: { thresholdCost: 5 },
  },
  {
    value: "ai_flagged_content",
    label: "Flagged content",
    group: "AI",
    about: "An AI call has a term of the project's word lists.",
    fields: [{ key: "terms", label: "Terms", kind: "lines", hint: "One per line; empty: any of the lists." }],
    defaults: { terms: [] },
  },
  {
    value: "metric_threshold",
    label: "Metric",
    group: "Anything",
    about: "A metric is beyond a threshold. Without points it does not fire.",
    fields: [
      { key: "metricName", label: "Metric", kind: "text" },
      { key: "aggregation", label: "Combined by", kind: "select", options: AGGREGATIONS },
      { key: "operator", label: "Fires when it", kind: "select", options: OPERATORS },
      number("thresholdValue", "Threshold"),
      lookback,
    ],
    defaults: { metricName: "", aggregation: "avg", operator: "gt", thresholdValue: 0, lookbackMinutes: 5 },
  },
  {
    value: "query_threshold",
    label: "Search",
    group: "Anything",
    about: "The rows that a search finds, or a metric with tags, are beyond a threshold for some minutes.",
    fields: [
      {
        key: "rows",
        label: "Rows",
        kind: "select",
        options: [
          { value: "endpoint", label: "Endpoints" },
          { value: "task", label: "Tasks" },
          { value: "ai_trace", label: "AI traces" },
          { value: "issue", label: "Exceptions" },
          { value: "log", label: "Logs" },
          { value: "span", label: "Spans" },
          { value: "session", label: "Sessions" },
          { value: "", label: "A metric" },
        ],
      },
      { key: "query", label: "Query", kind: "text", hint: "As in the search of the list.", shown: isRows },
      {
        key: "measure",
        label: "Measured",
        kind: "select",
        shown: isRows,
        options: [
          { value: "count", label: "Number of rows" },
          { value: "errorRate", label: "Failed share, %" },
          { value: "p50", label: "P50 of durations, ms" },
          { value: "p95", label: "P95 of durations, ms" },
          { value: "p99", label: "P99 of durations, ms" },
        ],
      },
      { key: "metricName", label: "Metric", kind: "text", shown: isMetric },
      {
        key: "aggregation",
        label: "Combined by",
        kind: "select",
        options: [...AGGREGATIONS, { value: "rate", label: "rate" }, { value: "count", label: "count" }],
        shown: isMetric,
      },
      { key: "operator", label: "Fires when it", kind: "select", options: OPERATORS },
      number("thresholdValue", "Threshold"),
      lookback,
      number("forMinutes", "For", "minutes"),
    ],
    defaults: {
      rows: "endpoint",
      query: "",
      measure: "count",
      metricName: "",
      aggregation: "avg",
      tagFilters: {},
      operator: "gt",
      thresholdValue: 0,
      lookbackMinutes: 5,
      forMinutes: 0,
    },
  },
  {
    value: "change",
    label: "Change for the worse",
    group: "Anything",
    about: "What the Overview lists under changes: slower, failing, silent or dearer than before.",
    fields: [name("name", "Name")],
    defaults: { kinds: [], name: "*" },
  },
  {
    value: "no_data",
    label: "No data",
    group: "Anything",
    about: "The project has sent data before and is silent.",
    fields: [
      {
        key: "dataType",
        label: "Of",
        kind: "select",
        options: [
          { value: "any", label: "Anything" },
          { value: "endpoints", label: "Endpoints" },
          { value: "tasks", label: "Tasks" },
          { value: "exceptions", label: "Exceptions" },
          { value: "metrics", label: "Metrics" },
        ],
      },
      number("silenceMinutes", "Silent for", "minutes"),
    ],
    defaults: { dataType: "any", silenceMinutes: 10 },
  },
  {
    value: "drops",
    label: "Data is refused",
    group: "Anything",
    about: "The server refuses requests of the project or drops its records.",
    fields: [number("thresholdCount", "Requests and records"), lookback],
    defaults: { thresholdCount: 1, lookbackMinutes: 5 },
  },
  {
    value: "check_down",
    label: "Monitor is down",
    group: "Anything",
    about: "A monitor of the project is down, and when it is up again.",
    fields: [],
    defaults: { checkIds: [] },
  },
];

export function ruleType(value: string): RuleType | undefined {
  return RULE_TYPES.find((type) => type.value === value);
}

/** The label of a type, also of one that this release does not know. */
export function ruleTypeLabel(value: string): string {
  return ruleType(value)?.label ?? (value === "monitor" ? "Monitor" : value);
}

/** The configuration with a field changed, from what was typed. */
export function withField(config: RuleConfig, field: RuleField, typed: string): RuleConfig {
  let value: RuleValue = typed;
  if (field.kind === "number") value = typed.trim() === "" ? null : Number(typed);
  if (field.kind === "lines") {
    value = typed
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
  }
  if (field.key === "rows" && typed === "") value = null;
  return { ...config, [field.key]: value };
}

/** A field as it is typed. */
export function fieldText(config: RuleConfig, field: RuleField): string {
  const value = config[field.key];
  if (Array.isArray(value)) return value.join("\n");
  return value === null || value === undefined ? "" : String(value);
}

/** Reason for which the form cannot be sent; null when it can. */
export function ruleProblem(type: RuleType, config: RuleConfig): string | null {
  for (const field of type.fields) {
    if (field.shown && !field.shown(config)) continue;
    const value = config[field.key];
    if (field.kind === "number" && (typeof value !== "number" || !Number.isFinite(value)))
      return `${field.label} is a number`;
    if (field.kind === "text" && field.key !== "query" && value === "") return `${field.label} is empty`;
  }
  return null;
}

/** The configuration of a form that an address prefills: known keys over the defaults. */
export function prefilled(type: RuleType, given: string | undefined): RuleConfig {
  if (!given) return type.defaults;
  try {
    const parsed: unknown = JSON.parse(given);
    if (typeof parsed !== "object" || parsed === null) return type.defaults;
    const known = Object.entries(parsed).filter(([key]) => key in type.defaults) as [string, RuleValue][];
    return { ...type.defaults, ...Object.fromEntries(known) };
  } catch {
    return type.defaults;
  }
}
