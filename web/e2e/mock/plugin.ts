// A mock of the server for UI development (`npm run dev:mock`). Tests use the real binary.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Plugin } from "vite";
import { organizations, projects, user } from "./account.ts";
import { type Body, page } from "./common.ts";
import { ENTITIES, endpointGroups } from "./entities.ts";
import { assign, comment, issueActivity, issueDetail, issueGroups, setState } from "./issues.ts";
import { logCompletions, logFacets, logHistogram, logs } from "./logs.ts";
import { METRICS, metricAnswer } from "./metrics.ts";
import { PEOPLE, Refused } from "./people.ts";
import { demo, drops, refusals, serviceMap, services } from "./received.ts";
import { SESSIONS } from "./sessions.ts";
import { oneSpan, spanPage, traceColumns, traceSearchPage } from "./spans.ts";
import { SYMBOLS } from "./symbols.ts";
import { PROJECT } from "./trace.ts";

type Handler = (body: Body, url: URL, parts: string[], linkToken: string) => unknown;

const ROUTES: [string, Handler][] = [
  ["GET /api/has-organizations", () => ({ hasOrganizations: true })],
  ...PEOPLE,
  ...SYMBOLS,
  ...SESSIONS,
  [
    "POST /api/register",
    () => ({
      token: "mock",
      user,
      project: projects[1],
      projects,
      organizations,
    }),
  ],
  ["PUT /api/projects", (body) => Object.assign(projects[0], { settings: { ...projects[0].settings, ...body } })],
  ...ENTITIES,
  ["POST /api/exception-stack-traces", (body) => page(issueGroups(body), body)],
  ["POST /api/exception-stack-traces/state", (body) => setState(body)],
  ["POST /api/exception-stack-traces/assign", (body) => assign(body)],
  ["GET /api/exception-stack-traces/:hash/similar", () => ({ data: [] })],
  ["GET /api/exception-stack-traces/:hash/activity", (_body, _url, parts) => issueActivity(parts[3])],
  ["POST /api/exception-stack-traces/:hash/comments", (body, _url, parts) => comment(parts[3], body)],
  ["POST /api/exception-stack-traces/:hash", (body, _url, parts) => issueDetail(parts[3], body)],
  ["POST /api/logs", (body) => page(logs(body), body)],
  ["POST /api/logs/histogram", (body) => logHistogram(body)],
  ["POST /api/query/facets", (body) => logFacets(body)],
  ["POST /api/query/complete", (body) => logCompletions(body)],
  ["POST /api/spans", (body) => spanPage(body)],
  ["POST /api/traces/search", (body) => traceSearchPage(body)],
  ["POST /api/traces/:id/columns", (_body, _url, parts) => traceColumns(parts[3])],
  ["GET /api/spans/:trace/:span", (_body, _url, parts) => oneSpan(parts[3], parts[4])],
  ["GET /api/refusals", () => refusals()],
  ["GET /api/services", () => services()],
  ["POST /api/services/map", () => serviceMap()],
  ["GET /api/organizations/:id/demo", () => demo(false)],
  ["POST /api/organizations/:id/demo", () => demo(true)],
  ["GET /api/metrics/discover", () => ({ metrics: METRICS })],
  ["GET /api/metrics/discover/tags", () => ({ values: ["storefront-1", "storefront-2", "cart-1"] })],
  ["POST /api/metrics/query", (body) => metricAnswer(body as never)],
  ["POST /api/compare", (body) => compared(body)],
  ["POST /api/deploys/version", () => version()],
  ["POST /api/first-version", () => ({ version: "1.42.0", service: "checkout", since: new Date().toISOString() })],
  ["POST /api/deploys/list", () => ({ data: deploys(), truncated: false })],
  ["GET /api/overview/data-since", () => ({ dataSince: null })],
  ["POST /api/overview/answers", () => answers()],
  ["POST /api/overview/changes", () => ({ data: changes(), checked: 312, quiet: 9 })],
  ["GET /api/dashboard/overview", (_body, url) => overview(url)],
];

const EMPTY: Record<string, unknown> = {
  "/api/dashboard/overview": {
    recentIssues: [],
    worstEndpoints: [],
    hasData: false,
    counts: { endpoints: 0, tasks: 0, aiTraces: 0, issues: 0, spans: 0, logs: 0, metricPoints: 0 },
    storedCounts: { endpoints: 0, tasks: 0, aiTraces: 0, issues: 0, spans: 0, logs: 0, metricPoints: 0 },
  },
  "/api/overview/answers": { alwaysBad: [], new: [], aiSpend: null, dataSince: null },
  "/api/overview/changes": { data: [], checked: 0, quiet: 0 },
  "/api/compare": { data: [] },
  "/api/deploys/list": { data: [], truncated: false },
  "/api/metrics/discover": { metrics: [] },
  "/api/symbols": { data: [], pagination: { page: 1, pageSize: 20, total: 0, totalPages: 0 } },
  "/api/symbols/missing": [],
  "/api/symbols/removed": [],
  "/api/services": { ...services(), services: [] },
  "/api/services/map": { ...serviceMap(), nodes: [], edges: [] },
  "/api/query/facets": { data: [], rows: 0, estimated: false },
  "/api/logs/histogram": { buckets: [], intervalMinutes: 15, services: [] },
};
const NO_ROWS = {
  data: [],
  series: [],
  endpoints: [],
  intervalMinutes: 15,
  pagination: { page: 1, pageSize: 50, total: 0, totalPages: 0 },
};

/** The compared period of the names: half as slow, the first with few calls, the second missing. */
function compared(body: Body) {
  const names = (body.names ?? []) as string[];
  const of = (name: string, i: number) => ({
    name,
    count: i ? 4120 : 12,
    storedCount: i ? 4120 : 12,
    p50Duration: 4e7,
    p95Duration: 2.1e8 * (1 + (i % 3)),
    p99Duration: 9e8,
    errorCount: 9,
    totalCost: body.kind === "ai_trace" ? 3.5 : null,
  });
  return { data: names.map(of).filter((_, i) => i !== 1) };
}

/** Effect of a version. */
function version() {
  const row = { kind: "endpoint", beforeCount: 4120, afterCount: 380 };
  const thing = { exceptionHash: null, service: "checkout", version: "1.42.0", since: new Date().toISOString() };
  return {
    deploy: deploys()[0],
    from: new Date(Date.now() - 7 * 3_600_000).toISOString(),
    to: new Date().toISOString(),
    calls: 1204,
    otherCalls: 15_022,
    worse: [
      { ...row, name: "POST /checkout", metric: "p50", before: 1.55e8, after: 1.05e9 },
      { ...row, name: "POST /checkout", metric: "error_rate", before: 0.001, after: 0.12 },
    ],
    better: [{ ...row, name: "GET /cart/:id", metric: "p95", before: 2.4e8, after: 1.6e8 }],
    new: [
      { ...thing, kind: "issue", name: "TotalMismatch", exceptionHash: "00c0ffee00c0ffee", count: 46 },
      { ...thing, kind: "endpoint", name: "POST /refunds", count: 12 },
    ],
    fixed: [{ name: "ConnectionReset", exceptionHash: "00c0ffee00c0ffef", count: 31 }],
  };
}

/** Two bad endpoints, one new thing of each kind, and costs. */
function answers() {
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const thing = { exceptionHash: null, service: "checkout", version: "1.42.0", count: 0 };
  const spend = (name: string, cost: number, previousCost: number, change: number | null) => ({
    name,
    cost,
    comparedCost: cost,
    previousCost,
    calls: change === null ? 12 : 840,
    comparedCalls: change === null ? 12 : 840,
    previousCalls: 790,
    change,
  });
  return {
    alwaysBad: [
      { name: "GET /reports", badAnHour: 190.4, count: 4700, storedCount: 470, badCount: 4400, slowCount: 210 },
      { name: "POST /login", badAnHour: 3.2, count: 14, storedCount: 14, badCount: 3, slowCount: 0 },
    ],
    new: [
      { ...thing, kind: "issue", name: "TotalMismatch", exceptionHash: "00c0ffee00c0ffee", since: at(41), count: 168 },
      { ...thing, kind: "version", name: "checkout 1.42.0", since: at(41) },
      { ...thing, kind: "endpoint", name: "POST /refunds", since: at(300), count: 60 },
      { ...thing, kind: "ai_trace", name: "summary", service: "assistant", version: null, since: at(500), count: 9 },
    ],
    aiSpend: {
      total: spend("", 41.2, 20.1, 1.05),
      names: [spend("support-assistant", 39.9, 19.6, 1.04), spend("summary", 1.3, 0.5, null)],
      comparedFrom: at(24 * 60),
    },
    dataSince: null,
  };
}

/** A release of this morning, one that a pipeline reported, and the first known version. */
function deploys() {
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const deploy = {
    service: "checkout",
    environment: "production",
    firstSeen: null,
    reported: false,
    previous: null,
    commit: "",
    author: "",
    url: "",
  };
  return [
    { ...deploy, version: "1.42.0", time: at(41), firstSeen: at(41), previous: "1.41.0" },
    {
      ...deploy,
      service: "catalog",
      version: "2.7.1",
      time: at(200),
      firstSeen: at(198),
      reported: true,
      previous: "2.7.0",
      commit: "4be1f00",
      author: "Ada",
      url: "https://ci.example.com/runs/7",
    },
    { ...deploy, version: "1.41.0", time: at(1400), firstSeen: at(1400) },
  ];
}

/** Two changes and a new Issue. */
function changes() {
  const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const card = {
    kind: "endpoint",
    exceptionHash: null,
    service: "checkout",
    sinceExact: true,
    version: null,
    versionRelation: null,
    effects: [],
    slowMs: null,
    newIssues: [],
    suffering: [],
    recovered: null,
  };
  const cards = [
    {
      ...card,
      name: "POST /checkout",
      since: at(41),
      version: "1.42.0",
      versionRelation: "carries",
      sentence:
        "POST /checkout is 6.8 times slower (P50 155 ms -> 1.05 s) and fails in 12 % of calls, before 0.1 %, since 09:04 UTC; version 1.42.0 of checkout carries it. 168 more failed calls an hour. New issue: TotalMismatch.",
      score: 5700,
      effects: [
        { metric: "p50", before: 155, after: 1054, since: at(41) },
        { metric: "error_rate", before: 0.001, after: 0.12, since: at(39) },
      ],
      slowMs: 480,
      newIssues: ["TotalMismatch"],
      suffering: ["GET /cart"],
    },
    {
      ...card,
      name: "GET /products/{id}",
      service: "catalog",
      since: at(190),
      recovered: at(122),
      sentence:
        "GET /products/{id} is 20 % slower (P90 410 ms -> 492 ms) since about 06:35 UTC. Recovered at 07:43 UTC after 68 min.",
      score: 61,
    },
  ];
  return cards.map((one) => ({ ...one, sentenceParts: [{ text: one.sentence }] }));
}

function overview(url: URL) {
  const body = {
    fromDate: url.searchParams.get("from") ?? "",
    toDate: url.searchParams.get("to") ?? "",
    orderBy: "impact",
  };
  return {
    recentIssues: issueGroups(body).slice(0, 5),
    worstEndpoints: endpointGroups(body).slice(0, 5),
    hasData: true,
    counts: {
      endpoints: 412_004,
      tasks: 104_439,
      aiTraces: 13_431,
      issues: 1644,
      spans: 3_204_112,
      logs: 912_000,
      metricPoints: 56_620,
    },
    storedCounts: {
      endpoints: 303_633,
      tasks: 104_439,
      aiTraces: 13_431,
      issues: 1644,
      spans: 2_100_412,
      logs: 912_000,
      metricPoints: 56_620,
    },
  };
}

function matches(pattern: string, path: string): boolean {
  const want = pattern.split("/");
  const have = path.split("/");
  return want.length === have.length && want.every((part, i) => part.startsWith(":") || part === have[i]);
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", "http://mock");
  let text = "";
  for await (const chunk of request) text += chunk;
  const body: Body = text ? JSON.parse(text) : {};
  const send = (status: number, value: unknown) => {
    if (value instanceof Refused) {
      if (value.retryAfter) response.setHeader("retry-after", String(value.retryAfter));
      return send(value.status, { error: value.error });
    }
    response.statusCode = status;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(value));
  };
  const project = url.searchParams.get("projectId");
  if (url.pathname === "/api/drops") return send(200, drops(project !== PROJECT));
  if (project && project !== PROJECT && !url.pathname.startsWith("/api/projects"))
    return send(200, EMPTY[url.pathname] ?? NO_ROWS);
  const found =
    ROUTES.find(([route]) => route === `${request.method} ${url.pathname}`) ??
    ROUTES.find(([route]) => matches(route, `${request.method} ${url.pathname}`));
  if (!found) return send(404, { error: `no such route: ${request.method} ${url.pathname}` });
  send(
    200,
    found[1](body, url, decodeURIComponent(url.pathname).split("/"), String(request.headers["link-token"] ?? "")),
  );
}

export function mockApi(): Plugin {
  return {
    name: "tidewatch-mock",
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        if (!request.url?.startsWith("/api/")) return next();
        answer(request, response).catch((error) => {
          response.statusCode = 500;
          response.end(JSON.stringify({ error: String(error) }));
        });
      });
    },
  };
}
