// The pages of telemetry of a project.
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import type { AiFlag, AiGrouping } from "../api/types";
import { STATE_VIEWS, type StateView } from "../model/issue-state";
import { flag, oneOf, positive, text, whole } from "../model/search";
import { project } from "./project";
import type { Raw } from "./root";

export const overview = createRoute({
  getParentRoute: () => project,
  path: "/",
  component: lazyRouteComponent(() => import("../pages/overview/Overview"), "OverviewPage"),
});

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
export const SAMPLES = ["slowest", "latest", "errors", "typical"] as const;
const SPLITS = ["status", "version", "service"] as const;
function nameSearch(raw: Raw): NameSearch {
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

export const SERVICE_TABLES = ["services", "calls"] as const;
export const services = createRoute({
  getParentRoute: () => project,
  path: "/services",
  validateSearch: (raw: Raw): { sort?: string; table?: (typeof SERVICE_TABLES)[number] } => ({
    sort: text(raw.sort),
    table: oneOf(raw.table, SERVICE_TABLES),
  }),
  component: lazyRouteComponent(() => import("../pages/services/Services"), "ServicesPage"),
});
export const service = createRoute({
  getParentRoute: () => project,
  path: "/services/$name",
  component: lazyRouteComponent(() => import("../pages/services/Service"), "ServicePage"),
});
export const endpoints = createRoute({
  getParentRoute: () => project,
  path: "/endpoints",
  validateSearch: (raw: Raw): ListSearch & { metric?: string; root?: string } => ({
    ...listSearch(raw),
    metric: text(raw.metric),
    root: oneOf(raw.root, ["root", "non_root"]),
  }),
  component: lazyRouteComponent(() => import("../pages/endpoints/Endpoints"), "EndpointsPage"),
});
export const endpoint = createRoute({
  getParentRoute: () => project,
  path: "/endpoints/$name",
  validateSearch: nameSearch,
  component: lazyRouteComponent(() => import("../pages/endpoint/Endpoint"), "EndpointPage"),
});
export const tasks = createRoute({
  getParentRoute: () => project,
  path: "/tasks",
  validateSearch: (raw: Raw): ListSearch & { metric?: string } => ({ ...listSearch(raw), metric: text(raw.metric) }),
  component: lazyRouteComponent(() => import("../pages/tasks/Tasks"), "TasksPage"),
});
export const task = createRoute({
  getParentRoute: () => project,
  path: "/tasks/$name",
  validateSearch: nameSearch,
  component: lazyRouteComponent(() => import("../pages/task/Task"), "TaskPage"),
});
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
export const ai = createRoute({
  getParentRoute: () => project,
  path: "/ai",
  validateSearch: (raw: Raw): AiSearch => ({
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
  }),
  component: lazyRouteComponent(() => import("../pages/ai/Ai"), "AiPage"),
});
export const aiName = createRoute({
  getParentRoute: () => project,
  path: "/ai/$name",
  validateSearch: nameSearch,
  component: lazyRouteComponent(() => import("../pages/aiName/AiName"), "AiNamePage"),
});
export const aiTrace = createRoute({
  getParentRoute: () => project,
  path: "/ai/t/$rowId",
  validateSearch: (raw: Raw): { at?: string } => ({ at: text(raw.at) }),
  component: lazyRouteComponent(() => import("../pages/aiTrace/AiTrace"), "AiTracePage"),
});
export const issues = createRoute({
  getParentRoute: () => project,
  path: "/issues",
  validateSearch: (raw: Raw): ListSearch & { state?: StateView; by?: number; type?: "issues" | "messages" } => ({
    ...listSearch(raw),
    // Addresses of older releases have `archived`.
    state: oneOf(raw.state, STATE_VIEWS) ?? (flag(raw.archived) ? "all" : undefined),
    by: whole(raw.by),
    type: raw.type === "issues" || raw.type === "messages" ? raw.type : undefined,
  }),
  component: lazyRouteComponent(() => import("../pages/issues/Issues"), "IssuesPage"),
});
export const issue = createRoute({
  getParentRoute: () => project,
  path: "/issues/$hash",
  validateSearch: (raw: Raw): ExplainSearch & { event?: number; raw?: true } => ({
    ...explainSearch(raw),
    event: whole(raw.event, 1),
    raw: flag(raw.raw),
  }),
  component: lazyRouteComponent(() => import("../pages/issue/Issue"), "IssuePage"),
});
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
export const sessions = createRoute({
  getParentRoute: () => project,
  path: "/sessions",
  validateSearch: (raw: Raw): SessionsSearch => ({
    ...listSearch(raw),
    user: text(raw.user),
    path: text(raw.path),
    browser: text(raw.browser),
    min: positive(raw.min),
    max: positive(raw.max),
    errors: flag(raw.errors),
    attr: text(raw.attr),
  }),
  component: lazyRouteComponent(() => import("../pages/sessions/Sessions"), "SessionsPage"),
});
export const SESSION_TABS = ["network", "actions", "errors", "vitals", "attributes"] as const;
export interface SessionSearch {
  /** Position of the player in seconds. */
  t?: number;
  /** When the session began. The server finds it faster with it. */
  at?: string;
  /** Default: the console. */
  tab?: (typeof SESSION_TABS)[number];
}
export const session = createRoute({
  getParentRoute: () => project,
  path: "/sessions/$id",
  validateSearch: (raw: Raw): SessionSearch => ({
    t: positive(raw.t),
    at: text(raw.at),
    tab: oneOf(raw.tab, SESSION_TABS),
  }),
  component: lazyRouteComponent(() => import("../pages/session/Session"), "SessionPage"),
});
export interface SpanSearch extends NameSearch {
  kind?: number;
  status?: number;
  min?: number;
  max?: number;
  attr?: string;
  all?: true;
  plot?: "heatmap";
}
export const traces = createRoute({
  getParentRoute: () => project,
  path: "/traces",
  validateSearch: (raw: Raw): SpanSearch => ({
    ...nameSearch(raw),
    kind: whole(raw.kind),
    status: whole(raw.status),
    min: positive(raw.min),
    max: positive(raw.max),
    attr: text(raw.attr),
    all: flag(raw.all),
    plot: oneOf(raw.plot, ["heatmap"]),
  }),
  component: lazyRouteComponent(() => import("../pages/traces/Traces"), "TracesPage"),
});
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
export const trace = createRoute({
  getParentRoute: () => project,
  path: "/traces/$traceId",
  validateSearch: (raw: Raw): TraceSearch => ({
    span: text(raw.span),
    tab: oneOf(raw.tab, TRACE_TABS),
    offset: whole(raw.offset),
    sort: text(raw.sort),
    at: text(raw.at),
    q: text(raw.q),
    min: positive(raw.min),
    errors: flag(raw.errors),
    z: text(raw.z),
  }),
  component: lazyRouteComponent(() => import("../pages/trace/Trace"), "TracePage"),
});
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
export const logs = createRoute({
  getParentRoute: () => project,
  path: "/logs",
  validateSearch: (raw: Raw): LogSearch => ({
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
  }),
  component: lazyRouteComponent(() => import("../pages/logs/Logs"), "LogsPage"),
});
export interface MetricSearch {
  q?: string;
  name?: string;
  agg?: string;
  by?: string;
  filter?: string;
}
export const metrics = createRoute({
  getParentRoute: () => project,
  path: "/metrics",
  validateSearch: (raw: Raw): MetricSearch => ({
    q: text(raw.q),
    name: text(raw.name),
    agg: text(raw.agg),
    by: text(raw.by),
    filter: text(raw.filter),
  }),
  component: lazyRouteComponent(() => import("../pages/metrics/Metrics"), "MetricsPage"),
});
export const profiles = createRoute({
  getParentRoute: () => project,
  path: "/profiles",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("../pages/profiles/Profiles"), "ProfilesPage"),
});
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
export const profile = createRoute({
  getParentRoute: () => project,
  path: "/profiles/$service",
  validateSearch: (raw: Raw): ProfileSearch => ({
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
  }),
  component: lazyRouteComponent(() => import("../pages/profile/Profile"), "ProfilePage"),
});
export const deploys = createRoute({
  getParentRoute: () => project,
  path: "/deploys",
  component: lazyRouteComponent(() => import("../pages/deploys/Deploys"), "DeploysPage"),
});
export const deployed = createRoute({
  getParentRoute: () => project,
  path: "/deploys/$service/$version",
  component: lazyRouteComponent(() => import("../pages/deploys/Version"), "VersionPage"),
});
