// All routes of the UI with their search parameters. Pages load lazily; links keep the range and the refresh interval.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  retainSearchParams,
} from "@tanstack/react-router";
import { bundleQuery, hasOrganizations } from "./api/account";
import { ApiError } from "./api/client";
import { keepLinkToken, keptLinkToken, linkTokenIn } from "./api/link-token";
import { queryClient } from "./api/query-client";
import { hasSession, lastProject } from "./api/session";
import type { AiFlag, AiGrouping } from "./api/types";
import { COMPARISONS } from "./model/compare";
import type { ConsentSearch } from "./model/consent";
import { STATE_VIEWS, type StateView } from "./model/issue-state";
import { flag, oneOf, parseSearch, positive, stringifySearch, text, whole } from "./model/search";
import { FILE_KINDS, type FileKind, PLATFORMS, type Platform } from "./model/symbol-kinds";
import { Crash } from "./parts/Crash";
import { NotFound, NotFoundPage } from "./parts/NotFound";
import { Shell } from "./parts/Shell";

type Raw = Record<string, unknown>;

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage, errorComponent: Crash });

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: async () => {
    const bundle = await requireSession("/");
    const last = lastProject();
    const project = bundle.projects.find((one) => one.id === last) ?? bundle.projects[0];
    if (project) throw redirect({ to: "/p/$pid", params: { pid: project.id } });
    throw redirect({ to: "/p/$pid", params: { pid: "none" } });
  },
});

/** Returns the login bundle. Without a session, redirects to the first run or the login page. */
async function requireSession(next: string) {
  if (hasSession()) {
    try {
      return await queryClient.ensureQueryData(bundleQuery);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
    }
  }
  const { hasOrganizations: any } = await hasOrganizations();
  if (!any) throw redirect({ to: "/setup" });
  throw redirect({ to: "/login", search: { next: next === "/" ? undefined : next } });
}

const setup = createRoute({
  getParentRoute: () => root,
  path: "/setup",
  beforeLoad: async () => {
    const { hasOrganizations: any } = await hasOrganizations();
    if (any) throw redirect({ to: "/login", search: { next: undefined } });
  },
  component: lazyRouteComponent(() => import("./pages/auth/Setup"), "Setup"),
});
const register = createRoute({
  getParentRoute: () => root,
  path: "/register",
  beforeLoad: async () => {
    const { hasOrganizations: any } = await hasOrganizations();
    if (!any) throw redirect({ to: "/setup" });
  },
  component: lazyRouteComponent(() => import("./pages/auth/Register"), "Register"),
});
const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: (raw: Raw): { next?: string; error?: string } => ({ next: text(raw.next), error: text(raw.error) }),
  component: lazyRouteComponent(() => import("./pages/auth/Login"), "Login"),
});
const forgot = createRoute({
  getParentRoute: () => root,
  path: "/forgot-password",
  component: lazyRouteComponent(() => import("./pages/auth/Forgot"), "Forgot"),
});
const tokenSearch = (raw: Raw): { token?: string } => ({ token: text(raw.token) });
/** Removes the secret of a mailed link from the address and puts it into the route's context. */
const withLinkToken =
  (page: "/reset-password" | "/accept-invitation" | "/ack") =>
  ({ location, search }: { location: { hash: string }; search: { token?: string } }) => {
    const token = linkTokenIn(location.hash, search);
    if (!token) return { linkToken: keptLinkToken(page) };
    keepLinkToken(page, token);
    throw redirect({ to: page, replace: true });
  };
const reset = createRoute({
  getParentRoute: () => root,
  path: "/reset-password",
  validateSearch: tokenSearch,
  beforeLoad: withLinkToken("/reset-password"),
  component: lazyRouteComponent(() => import("./pages/auth/Reset"), "Reset"),
});
const invitation = createRoute({
  getParentRoute: () => root,
  path: "/accept-invitation",
  validateSearch: tokenSearch,
  beforeLoad: withLinkToken("/accept-invitation"),
  component: lazyRouteComponent(() => import("./pages/auth/Invitation"), "AcceptInvitation"),
});
const callback = createRoute({
  getParentRoute: () => root,
  path: "/auth/callback",
  component: lazyRouteComponent(() => import("./pages/auth/Callback"), "Callback"),
});

/** Links in alerts. The link alone permits acknowledging, without a session. */
const ackLink = createRoute({
  getParentRoute: () => root,
  path: "/ack/$token",
  beforeLoad: ({ params }) => {
    keepLinkToken("/ack", params.token);
    throw redirect({ to: "/ack", replace: true });
  },
});
const ack = createRoute({
  getParentRoute: () => root,
  path: "/ack",
  validateSearch: tokenSearch,
  beforeLoad: withLinkToken("/ack"),
  component: lazyRouteComponent(() => import("./pages/auth/Ack"), "Ack"),
});

/** Pages of a user or an organization. They require a session and no project. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  beforeLoad: async ({ location }) => {
    await requireSession(location.href);
  },
});
const finishSetup = createRoute({
  getParentRoute: () => signedIn,
  path: "/finish-setup",
  component: lazyRouteComponent(() => import("./pages/auth/FinishSetup"), "FinishSetup"),
});
const device = createRoute({
  getParentRoute: () => signedIn,
  path: "/device",
  component: lazyRouteComponent(() => import("./pages/auth/Device"), "Device"),
});
const consent = createRoute({
  getParentRoute: () => signedIn,
  path: "/oauth/authorize",
  validateSearch: (raw: Raw): ConsentSearch => ({
    response_type: text(raw.response_type),
    client_id: text(raw.client_id),
    redirect_uri: text(raw.redirect_uri),
    code_challenge: text(raw.code_challenge),
    code_challenge_method: text(raw.code_challenge_method),
    state: text(raw.state),
    scope: text(raw.scope),
    resource: text(raw.resource),
  }),
  component: lazyRouteComponent(() => import("./pages/auth/Consent"), "Consent"),
});
/** `/settings` without a project opens the settings of the last opened project. */
const anySettings = createRoute({
  getParentRoute: () => signedIn,
  path: "/settings",
  beforeLoad: async () => {
    const { projects } = await queryClient.ensureQueryData(bundleQuery);
    const pid = (projects.find((one) => one.id === lastProject()) ?? projects[0])?.id ?? "none";
    throw redirect({ to: "/p/$pid/settings", params: { pid } });
  },
});
const plain = createRoute({
  getParentRoute: () => signedIn,
  id: "plain",
  component: lazyRouteComponent(() => import("./parts/PlainShell"), "PlainShell"),
});
export const ACCOUNT_TABS = ["security", "tokens", "apps", "log"] as const;
const accountPage = createRoute({
  getParentRoute: () => plain,
  path: "/account",
  validateSearch: (raw: Raw): { tab?: (typeof ACCOUNT_TABS)[number] } => ({ tab: oneOf(raw.tab, ACCOUNT_TABS) }),
  component: lazyRouteComponent(() => import("./pages/account/Account"), "AccountPage"),
});
export const ORGANIZATION_TABS = ["invitations", "sso", "audit", "settings"] as const;
export interface OrganizationSearch {
  tab?: (typeof ORGANIZATION_TABS)[number];
  org?: number;
  action?: string;
  by?: number;
  before?: string;
}
const organizationPage = createRoute({
  getParentRoute: () => plain,
  path: "/organization",
  validateSearch: (raw: Raw): OrganizationSearch => ({
    tab: oneOf(raw.tab, ORGANIZATION_TABS),
    org: whole(raw.org, 1),
    action: text(raw.action),
    by: whole(raw.by, 1),
    before: text(raw.before),
  }),
  component: lazyRouteComponent(() => import("./pages/organization/Organization"), "OrganizationPage"),
});

const project = createRoute({
  getParentRoute: () => root,
  path: "/p/$pid",
  validateSearch: (raw: Raw): { from?: string; to?: string; every?: number; cmp?: string } => ({
    from: text(raw.from),
    to: text(raw.to),
    every: whole(raw.every, 1),
    cmp: oneOf(raw.cmp, COMPARISONS),
  }),
  search: { middlewares: [retainSearchParams(["from", "to", "every", "cmp"])] },
  beforeLoad: async ({ location }) => {
    await requireSession(location.href);
  },
  component: Shell,
  notFoundComponent: NotFound,
});

const overview = createRoute({
  getParentRoute: () => project,
  path: "/",
  component: lazyRouteComponent(() => import("./pages/overview/Overview"), "OverviewPage"),
});

export interface ListSearch {
  q?: string;
  sort?: string;
  page?: number;
}
/** What is explained, and within which condition. */
interface ExplainSearch {
  explain?: string;
  where?: string;
}
function explainSearch(raw: Raw): ExplainSearch {
  return { explain: text(raw.explain), where: text(raw.where) };
}
/** Search of the page of one entity. */
export interface NameSearch extends ListSearch, ExplainSearch {
  /** What the chart of calls is split by. */
  split?: (typeof SPLITS)[number];
}
const SPLITS = ["status", "version", "service"] as const;
function nameSearch(raw: Raw): NameSearch {
  return { ...listSearch(raw), ...explainSearch(raw), split: oneOf(raw.split, SPLITS) };
}
function listSearch(raw: Raw): ListSearch {
  return { q: text(raw.q), sort: text(raw.sort), page: whole(raw.page, 1) };
}

const endpoints = createRoute({
  getParentRoute: () => project,
  path: "/endpoints",
  validateSearch: (raw: Raw): ListSearch & { metric?: string; root?: string } => ({
    ...listSearch(raw),
    metric: text(raw.metric),
    root: oneOf(raw.root, ["root", "non_root"]),
  }),
  component: lazyRouteComponent(() => import("./pages/endpoints/Endpoints"), "EndpointsPage"),
});
const endpoint = createRoute({
  getParentRoute: () => project,
  path: "/endpoints/$name",
  validateSearch: (raw: Raw): NameSearch & { tab?: "slowest" | "latest" | "errors" } => ({
    ...nameSearch(raw),
    tab: oneOf(raw.tab, ["slowest", "latest", "errors"]),
  }),
  component: lazyRouteComponent(() => import("./pages/endpoint/Endpoint"), "EndpointPage"),
});
const tasks = createRoute({
  getParentRoute: () => project,
  path: "/tasks",
  validateSearch: (raw: Raw): ListSearch & { metric?: string } => ({ ...listSearch(raw), metric: text(raw.metric) }),
  component: lazyRouteComponent(() => import("./pages/tasks/Tasks"), "TasksPage"),
});
const task = createRoute({
  getParentRoute: () => project,
  path: "/tasks/$name",
  validateSearch: nameSearch,
  component: lazyRouteComponent(() => import("./pages/task/Task"), "TaskPage"),
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
const ai = createRoute({
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
    ]),
    conversation: text(raw.conversation),
  }),
  component: lazyRouteComponent(() => import("./pages/ai/Ai"), "AiPage"),
});
const aiName = createRoute({
  getParentRoute: () => project,
  path: "/ai/$name",
  validateSearch: nameSearch,
  component: lazyRouteComponent(() => import("./pages/aiName/AiName"), "AiNamePage"),
});
const aiTrace = createRoute({
  getParentRoute: () => project,
  path: "/ai/t/$rowId",
  validateSearch: (raw: Raw): { at?: string } => ({ at: text(raw.at) }),
  component: lazyRouteComponent(() => import("./pages/aiTrace/AiTrace"), "AiTracePage"),
});
const issues = createRoute({
  getParentRoute: () => project,
  path: "/issues",
  validateSearch: (raw: Raw): ListSearch & { state?: StateView; by?: number; type?: "issues" | "messages" } => ({
    ...listSearch(raw),
    // Addresses of older releases have `archived`.
    state: oneOf(raw.state, STATE_VIEWS) ?? (flag(raw.archived) ? "all" : undefined),
    by: whole(raw.by),
    type: raw.type === "issues" || raw.type === "messages" ? raw.type : undefined,
  }),
  component: lazyRouteComponent(() => import("./pages/issues/Issues"), "IssuesPage"),
});
const issue = createRoute({
  getParentRoute: () => project,
  path: "/issues/$hash",
  validateSearch: (raw: Raw): ExplainSearch & { event?: number; raw?: true } => ({
    ...explainSearch(raw),
    event: whole(raw.event, 1),
    raw: flag(raw.raw),
  }),
  component: lazyRouteComponent(() => import("./pages/issue/Issue"), "IssuePage"),
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
const sessions = createRoute({
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
  component: lazyRouteComponent(() => import("./pages/sessions/Sessions"), "SessionsPage"),
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
const session = createRoute({
  getParentRoute: () => project,
  path: "/sessions/$id",
  validateSearch: (raw: Raw): SessionSearch => ({
    t: positive(raw.t),
    at: text(raw.at),
    tab: oneOf(raw.tab, SESSION_TABS),
  }),
  component: lazyRouteComponent(() => import("./pages/session/Session"), "SessionPage"),
});
export interface SpanSearch extends NameSearch {
  service?: string;
  kind?: number;
  status?: number;
  min?: number;
  max?: number;
  attr?: string;
  all?: true;
  plot?: "heatmap";
}
const traces = createRoute({
  getParentRoute: () => project,
  path: "/traces",
  validateSearch: (raw: Raw): SpanSearch => ({
    ...nameSearch(raw),
    service: text(raw.service),
    kind: whole(raw.kind),
    status: whole(raw.status),
    min: positive(raw.min),
    max: positive(raw.max),
    attr: text(raw.attr),
    all: flag(raw.all),
    plot: oneOf(raw.plot, ["heatmap"]),
  }),
  component: lazyRouteComponent(() => import("./pages/traces/Traces"), "TracesPage"),
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
const trace = createRoute({
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
  component: lazyRouteComponent(() => import("./pages/trace/Trace"), "TracePage"),
});
export interface LogSearch extends ExplainSearch {
  q?: string;
  in?: "attribute";
  level?: string;
  service?: string;
  trace?: string;
  attr?: string;
  asc?: true;
  live?: true;
  cols?: string;
  view?: "patterns";
}
const logs = createRoute({
  getParentRoute: () => project,
  path: "/logs",
  validateSearch: (raw: Raw): LogSearch => ({
    ...explainSearch(raw),
    q: text(raw.q),
    in: oneOf(raw.in, ["attribute"]),
    level: text(raw.level),
    service: text(raw.service),
    trace: text(raw.trace),
    attr: text(raw.attr),
    asc: flag(raw.asc),
    live: flag(raw.live),
    cols: text(raw.cols),
    view: oneOf(raw.view, ["patterns"]),
  }),
  component: lazyRouteComponent(() => import("./pages/logs/Logs"), "LogsPage"),
});
export interface MetricSearch {
  q?: string;
  name?: string;
  agg?: string;
  by?: string;
  filter?: string;
}
const metrics = createRoute({
  getParentRoute: () => project,
  path: "/metrics",
  validateSearch: (raw: Raw): MetricSearch => ({
    q: text(raw.q),
    name: text(raw.name),
    agg: text(raw.agg),
    by: text(raw.by),
    filter: text(raw.filter),
  }),
  component: lazyRouteComponent(() => import("./pages/metrics/Metrics"), "MetricsPage"),
});
const profiles = createRoute({
  getParentRoute: () => project,
  path: "/profiles",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("./pages/profiles/Profiles"), "ProfilesPage"),
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
const profile = createRoute({
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
  component: lazyRouteComponent(() => import("./pages/profile/Profile"), "ProfilePage"),
});
const deploys = createRoute({
  getParentRoute: () => project,
  path: "/deploys",
  validateSearch: (raw: Raw): { service?: string } => ({ service: text(raw.service) }),
  component: lazyRouteComponent(() => import("./pages/deploys/Deploys"), "DeploysPage"),
});
const deployed = createRoute({
  getParentRoute: () => project,
  path: "/deploys/$service/$version",
  component: lazyRouteComponent(() => import("./pages/deploys/Version"), "VersionPage"),
});
const connect = createRoute({
  getParentRoute: () => project,
  path: "/connect",
  validateSearch: (raw: Raw): { lang?: string; protocol?: string } => ({
    lang: text(raw.lang),
    protocol: text(raw.protocol),
  }),
  component: lazyRouteComponent(() => import("./pages/connect/Connect"), "ConnectPage"),
});
const settings = createRoute({
  getParentRoute: () => project,
  path: "/settings",
  component: lazyRouteComponent(() => import("./pages/settings/Settings"), "SettingsPage"),
});

export interface SymbolSearch extends ListSearch {
  kind?: FileKind;
  /** The platform whose upload command is shown. */
  how?: Platform;
}
const symbols = createRoute({
  getParentRoute: () => project,
  path: "/settings/symbols",
  validateSearch: (raw: Raw): SymbolSearch => ({
    ...listSearch(raw),
    kind: oneOf(raw.kind, FILE_KINDS),
    how: oneOf(raw.how, PLATFORMS),
  }),
  component: lazyRouteComponent(() => import("./pages/symbols/Symbols"), "SymbolsPage"),
});

const tree = root.addChildren([
  home,
  setup,
  register,
  login,
  forgot,
  reset,
  invitation,
  callback,
  ack,
  ackLink,
  signedIn.addChildren([finishSetup, device, consent, anySettings, plain.addChildren([accountPage, organizationPage])]),
  project.addChildren([
    overview,
    endpoints,
    endpoint,
    tasks,
    task,
    ai,
    aiName,
    aiTrace,
    issues,
    issue,
    sessions,
    session,
    traces,
    trace,
    logs,
    metrics,
    profiles,
    profile,
    deploys,
    deployed,
    connect,
    settings,
    symbols,
  ]),
]);

export const router = createRouter({
  routeTree: tree,
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  defaultPreloadStaleTime: 0,
  scrollRestoration: false,
  defaultPendingMs: 300,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
