// Search part of the address of every page of telemetry: its type, and the function that validates it.
import { STATE_VIEWS, type StateView } from "./issue-state";
import { flag, oneOf, positive, type Raw, text, whole } from "./search";
import type { AiFlag, AiGrouping } from "./types";

export interface ListSearch {
  q?: string;
  sort?: string;
  page?: number;
  /** Key of the row whose drawer is open. */
  sel?: string;
}
/** Subject of the explanation, and the condition around it. */
interface ExplainSearch {
  explain?: string;
  where?: string;
}
function explainSearch(raw: Raw): ExplainSearch {
  return { explain: text(raw.explain), where: text(raw.where) };
}
/** Search of the page of one entity. */
export interface NameSearch extends ListSearch, ExplainSearch {
  /** Key that splits the chart of calls. */
  split?: (typeof SPLITS)[number];
  /** Key by which own times are summed; the operation when absent. */
  time?: "service";
  /** Which samples are listed; the first kind when absent. */
  tab?: (typeof SAMPLES)[number];
  /** Only samples of this version. */
  version?: string;
}
/** Kinds of samples of an entity. */
const SAMPLES = ["slowest", "latest", "errors", "typical"] as const;
export const SPLITS = ["status", "version", "service"] as const;
export function nameSearch(raw: Raw): NameSearch {
  return {
    ...listSearch(raw),
    ...explainSearch(raw),
    split: oneOf(raw.split, SPLITS),
    time: oneOf(raw.time, ["service"]),
    tab: oneOf(raw.tab, SAMPLES),
    version: text(raw.version),
  };
}
export function listSearch(raw: Raw): ListSearch {
  return { q: text(raw.q), sort: text(raw.sort), page: whole(raw.page, 1), sel: text(raw.sel) };
}

const SERVICE_TABLES = ["services", "calls"] as const;
export interface ServicesSearch {
  sort?: string;
  table?: (typeof SERVICE_TABLES)[number];
}
export function servicesSearch(raw: Raw): ServicesSearch {
  return { sort: text(raw.sort), table: oneOf(raw.table, SERVICE_TABLES) };
}

export interface EndpointsSearch extends ListSearch {
  metric?: string;
  root?: "root" | "non_root";
}
export function endpointsSearch(raw: Raw): EndpointsSearch {
  return { ...listSearch(raw), metric: text(raw.metric), root: oneOf(raw.root, ["root", "non_root"]) };
}

export interface TasksSearch extends ListSearch {
  metric?: string;
}
export function tasksSearch(raw: Raw): TasksSearch {
  return { ...listSearch(raw), metric: text(raw.metric) };
}

export interface AiSearch extends ListSearch {
  metric?: string;
  /** Default: model calls. */
  calls?: "tool" | "all";
  /** Default: by name. */
  by?: Exclude<AiGrouping, "name">;
  /** A flag, or "any". */
  flag?: AiFlag | "any";
  conversation?: string;
}
export function aiSearch(raw: Raw): AiSearch {
  return {
    ...listSearch(raw),
    metric: text(raw.metric),
    calls: oneOf(raw.calls, ["tool", "all"]),
    by: oneOf(raw.by, ["model", "provider", "user", "prompt", "service", "conversation"]),
    flag: oneOf(raw.flag, [
      "any",
      "truncated",
      "content_filter",
      "refused",
      "empty_answer",
      "invalid_tool_call",
      "tool_error",
      "flagged_content",
    ]),
    conversation: text(raw.conversation),
  };
}

export interface AiTraceSearch {
  at?: string;
}
export function aiTraceSearch(raw: Raw): AiTraceSearch {
  return { at: text(raw.at) };
}

export interface IssuesSearch extends ListSearch {
  state?: StateView;
  by?: number;
  type?: "issues" | "messages";
}
export function issuesSearch(raw: Raw): IssuesSearch {
  return {
    ...listSearch(raw),
    // Addresses of older releases have `archived`.
    state: oneOf(raw.state, STATE_VIEWS) ?? (flag(raw.archived) ? "all" : undefined),
    by: whole(raw.by),
    type: raw.type === "issues" || raw.type === "messages" ? raw.type : undefined,
  };
}

export interface IssueSearch extends ExplainSearch {
  event?: number;
  raw?: true;
}
export function issueSearch(raw: Raw): IssueSearch {
  return {
    ...explainSearch(raw),
    event: whole(raw.event, 1),
    raw: flag(raw.raw),
  };
}

export interface SessionsSearch extends ListSearch {
  user?: string;
  path?: string;
  browser?: string;
  /** Seconds. */
  min?: number;
  max?: number;
  errors?: true;
  /** `key=value` lines. */
  attr?: string;
}
export function sessionsSearch(raw: Raw): SessionsSearch {
  return {
    ...listSearch(raw),
    user: text(raw.user),
    path: text(raw.path),
    browser: text(raw.browser),
    min: positive(raw.min),
    max: positive(raw.max),
    errors: flag(raw.errors),
    attr: text(raw.attr),
  };
}

const SESSION_TABS = ["network", "actions", "errors", "vitals", "attributes"] as const;
export interface SessionSearch {
  /** Position of the player in seconds. */
  t?: number;
  /** When the session began. The server finds it faster with it. */
  at?: string;
  /** Default: the console. */
  tab?: (typeof SESSION_TABS)[number];
}
export function sessionSearch(raw: Raw): SessionSearch {
  return {
    t: positive(raw.t),
    at: text(raw.at),
    tab: oneOf(raw.tab, SESSION_TABS),
  };
}

export interface SpanSearch extends NameSearch {
  kind?: number;
  status?: number;
  min?: number;
  max?: number;
  attr?: string;
  all?: true;
  plot?: "heatmap";
}
export function spanSearch(raw: Raw): SpanSearch {
  return {
    ...nameSearch(raw),
    kind: whole(raw.kind),
    status: whole(raw.status),
    min: positive(raw.min),
    max: positive(raw.max),
    attr: text(raw.attr),
    all: flag(raw.all),
    plot: oneOf(raw.plot, ["heatmap"]),
  };
}

const TRACE_TABS = ["flame", "spans", "map", "logs", "issues", "ai"] as const;
export interface TraceSearch {
  span?: string;
  tab?: (typeof TRACE_TABS)[number];
  /** Place of the first span of a large trace. */
  offset?: number;
  sort?: string;
  at?: string;
  q?: string;
  min?: number;
  errors?: true;
  z?: string;
}
export function traceSearch(raw: Raw): TraceSearch {
  return {
    span: text(raw.span),
    tab: oneOf(raw.tab, TRACE_TABS),
    offset: whole(raw.offset),
    sort: text(raw.sort),
    at: text(raw.at),
    q: text(raw.q),
    min: positive(raw.min),
    errors: flag(raw.errors),
    z: text(raw.z),
  };
}

export interface LogSearch extends ExplainSearch {
  /** Id of the record whose drawer is open. */
  sel?: string;
  q?: string;
  in?: "attribute";
  level?: string;
  trace?: string;
  attr?: string;
  asc?: true;
  live?: true;
  cols?: string;
  view?: "patterns";
}
export function logSearch(raw: Raw): LogSearch {
  return {
    ...explainSearch(raw),
    q: text(raw.q),
    in: oneOf(raw.in, ["attribute"]),
    level: text(raw.level),
    trace: text(raw.trace),
    attr: text(raw.attr),
    asc: flag(raw.asc),
    live: flag(raw.live),
    cols: text(raw.cols),
    view: oneOf(raw.view, ["patterns"]),
    sel: text(raw.sel),
  };
}

export interface MetricSearch {
  q?: string;
  name?: string;
  agg?: string;
  by?: string;
  filter?: string;
}
export function metricSearch(raw: Raw): MetricSearch {
  return {
    q: text(raw.q),
    name: text(raw.name),
    agg: text(raw.agg),
    by: text(raw.by),
    filter: text(raw.filter),
  };
}

export const PROFILE_VIEWS = ["functions", "packages"] as const;
export interface ProfileSearch {
  type?: string;
  /** Default: the flame graph. */
  view?: (typeof PROFILE_VIEWS)[number];
  q?: string;
  sort?: string;
  version?: string;
  server?: string;
  label?: string;
  by?: string;
  order?: "time";
  /** "previous" or "v:<version>": the baseline of a comparison. */
  baseline?: string;
  /** A function whose callers and callees are shown. */
  fn?: string;
  trace?: string;
  span?: string;
}
export function profileSearch(raw: Raw): ProfileSearch {
  return {
    type: text(raw.type),
    view: oneOf(raw.view, PROFILE_VIEWS),
    q: text(raw.q),
    sort: text(raw.sort),
    version: text(raw.version),
    server: text(raw.server),
    label: text(raw.label),
    by: text(raw.by),
    order: oneOf(raw.order, ["time"]),
    baseline: text(raw.baseline),
    fn: text(raw.fn),
    trace: text(raw.trace),
    span: text(raw.span),
  };
}
