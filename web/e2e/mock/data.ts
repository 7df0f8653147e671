// Answers of the mock, one function per route. Numbers are made up but hang together.
import type * as t from "../../src/api/types";
import { hex, pick, random, uuid } from "./random.ts";
import { BIG_TRACE, bigSpans, PROJECT, PY_STACK, SHOP_TRACE, shopSpans } from "./trace.ts";

const boot = Date.now();
const iso = (ms: number) => new Date(ms).toISOString();
export const user = {
  id: 1,
  email: "ada@example.com",
  name: "Ada Byron",
  createdAt: iso(boot - 9e9),
  timezone: "",
  theme: "system",
  twoFactor: false,
  emailVerified: true,
};
const settings = {
  keepUnmatchedRoots: false,
  aiConventions: false,
  issuesFromLogs: false,
  sampleRate: 1,
  errorSampleRate: 1,
  dropHealthyHealthchecks: false,
  healthcheckPaths: [],
  profileLabelAllowlist: [],
  retentionDays: 0,
  dailyBytesMax: 0,
  dailyRecordsMax: 0,
  recordsPerSecondMax: 0,
  allowedOrigins: [],
};
export const projects: t.Project[] = [
  {
    id: PROJECT,
    name: "shop",
    token: "9f2c51e07ab94c0f8d1e3a7b6c5d4e3f",
    framework: "opentelemetry",
    organizationId: 1,
    createdAt: iso(boot - 9e9),
    backendUrl: "",
    role: "owner",
    demo: false,
    settings,
  },
  {
    id: "1c1d2e3f-1111-5222-8333-944455556666",
    name: "empty project",
    token: "00c51e07ab94c0f8d1e3a7b6c5d4e3ff",
    framework: "opentelemetry",
    organizationId: 1,
    createdAt: iso(boot - 9e8),
    backendUrl: "",
    role: "owner",
    demo: false,
    settings: { ...settings },
  },
];
export const organizations = [{ id: 1, name: "Acme", role: "owner", timezone: "UTC" }];

export interface Body {
  fromDate: string;
  toDate: string;
  orderBy?: string;
  sortDirection?: string;
  search?: string;
  metricType?: string;
  pagination?: { page: number; pageSize: number };
  [key: string]: unknown;
}
export function page<T>(all: T[], body: Body): t.Page<T> {
  const { page: at = 1, pageSize = 20 } = body.pagination ?? {};
  return {
    data: all.slice((at - 1) * pageSize, at * pageSize),
    pagination: { page: at, pageSize, total: all.length, totalPages: Math.ceil(all.length / pageSize) },
  };
}
const span = (body: Body) => ({ from: Date.parse(body.fromDate), to: Date.parse(body.toDate) });

function trend(body: Body, seed: number, scale: number, gap = false): t.Point[] {
  const { from, to } = span(body);
  const next = random(seed);
  const step = (to - from) / 24;
  return Array.from({ length: 24 }, (_, i) => ({
    timestamp: iso(from + i * step),
    count: Math.round(scale * (0.5 + next()) * (1 + Math.sin(i / 3.5))),
  })).filter((_, i) => !gap || i < 9 || i > 13);
}

const ENDPOINTS: [string, number, number, number, number, t.ImpactLevel, string, Partial<t.EndpointGroup>][] = [
  ["POST /checkout", 12840, 380, 2140, 0.043, "critical", "4.3 % of calls fail; slow p99", {}],
  ["GET /search", 81022, 210, 1460, 0.0021, "high", "many slow calls", {}],
  ["GET /cart/:id", 64211, 41, 180, 0.0004, "good", "", { hasNonRoot: true, hasRoot: true }],
  ["POST /charge", 12790, 330, 1980, 0.041, "critical", "4.1 % of calls fail", { hasRoot: false, hasNonRoot: true }],
  ["UNMATCHED", 5412, 2, 7, 0, "good", "", {}],
  ["GET /events", 320, 0, 0, 0, "good", "", { streamCount: 320, apdex: null }],
  ["GET /products/:slug", 120411, 18, 66, 0.0001, "good", "", {}],
  ["POST /cart/:id/items", 22010, 64, 410, 0.011, "medium", "1.1 % of calls fail", {}],
  ["middleware - jsonParser", 87, 0.2, 1.1, 0, "good", "", {}],
  ["GET /account/orders", 9120, 140, 720, 0.0009, "medium", "slow p95", {}],
  ["PUT /account/address", 1204, 88, 230, 0, "good", "", {}],
  ["GET /healthz", 86400, 1, 2, 0, "good", "", {}],
  [
    "POST /api/v2/recommendations/personalised/:customerId/with-context",
    4100,
    890,
    4200,
    0.02,
    "high",
    "Apdex 0.61",
    {},
  ],
];
export function endpointGroups(body: Body): t.EndpointGroup[] {
  const level = { critical: 0.82, high: 0.58, medium: 0.31, good: 0.04 };
  const rows = ENDPOINTS.map(([endpoint, calls, p50, p95, err, impactLevel, impactReason, more], i) => ({
    endpoint,
    count: calls,
    p50Duration: p50 * 1e6,
    p95Duration: p95 * 1e6,
    p99Duration: p95 * 2.3e6,
    avgDuration: p50 * 1.3e6,
    lastSeen: iso(Date.parse(body.toDate) - i * 41_000),
    impact: level[impactLevel] + (10 - i) / 200,
    impactReason,
    impactLevel,
    apdex: Math.max(0.4, 1 - p95 / 5000 - err * 2),
    errorCount: Math.round(calls * err),
    serverErrorCount: Math.round(calls * err),
    clientErrorCount: endpoint === "UNMATCHED" ? calls : Math.round(calls * 0.01),
    streamCount: 0,
    hasRoot: true,
    hasNonRoot: false,
    trend: trend(body, i + 3, calls / 24, i === 4),
    ...more,
  }));
  return sorted(
    rows.filter((row) => row.endpoint.toLowerCase().includes((body.search ?? "").toLowerCase())),
    body,
    {
      count: "count",
      p50_duration: "p50Duration",
      p95_duration: "p95Duration",
      p99_duration: "p99Duration",
      last_seen: "lastSeen",
      endpoint: "endpoint",
      error_rate: "errorCount",
      impact: "impact",
    },
  );
}
function sorted<T>(rows: T[], body: Body, keys: Record<string, keyof T>): T[] {
  const key = keys[body.orderBy ?? ""] ?? Object.values(keys)[0];
  const sign = body.sortDirection === "asc" ? 1 : -1;
  return [...rows].sort((a, b) => ((a[key] ?? 0) < (b[key] ?? 0) ? -sign : (a[key] ?? 0) > (b[key] ?? 0) ? sign : 0));
}

export function chart(body: Body, names: string[], key: "endpoint" | "task" | "trace"): t.ChartAnswer {
  const { from, to } = span(body);
  const minutes = Math.max(1, Math.round((to - from) / 60_000 / 72));
  const shown = body[key] ? [String(body[key])] : [...names.slice(0, 5), "Other"];
  const series: t.ChartAnswer["series"] = [];
  shown.forEach((name, n) => {
    const next = random(n + 11);
    const scale =
      { count: 120, p50: 90, p95: 800, p99: 1900, cost: 0.4, tokens: 9000 }[body.metricType ?? ""] ?? 60_000;
    for (
      let at = Math.floor(from / (minutes * 60_000)) * minutes * 60_000, i = 0;
      at < to;
      at += minutes * 60_000, i++
    ) {
      if ((i > 22 && i < 29) || (n === 3 && next() < 0.3)) continue;
      series.push({
        timestamp: iso(at),
        [key]: name,
        value: (scale * (0.4 + next()) * (1.4 + Math.sin(i / 9))) / (n + 1),
      });
    }
  });
  return { [`${key}s`]: shown, series, intervalMinutes: minutes } as never as t.ChartAnswer;
}
export const endpointNames = ENDPOINTS.map((row) => row[0]);

export function occurrences(
  body: Body,
  name: string,
  kind: "endpoint" | "taskName",
  amount = 240,
): (t.EndpointRow & t.TaskRow)[] {
  const next = random(name.length * 7);
  const { from, to } = span(body);
  const rows = Array.from({ length: amount }, (_, i) => {
    const status = kind === "taskName" ? 0 : next() < 0.05 ? 500 : next() < 0.04 ? 404 : 200;
    return {
      id: uuid(next),
      projectId: PROJECT,
      [kind]: name,
      duration: Math.round((20 + next() ** 6 * 4000) * 1e6),
      recordedAt: iso(to - ((to - from) / amount) * i - next() * 1000),
      statusCode: status,
      bodySize: Math.floor(next() * 40_000),
      clientIP: `203.0.113.${Math.floor(next() * 250)}`,
      attributes: {},
      appVersion: "1.42.0",
      serverName: pick(next, ["storefront-1", "storefront-2"]),
      traceId: i === 0 ? SHOP_TRACE : i === 1 ? BIG_TRACE : hex(next, 32),
      spanId: hex(next, 16),
      parentSpanId: i % 5 ? "" : hex(next, 16),
      isStream: false,
      isRoot: i % 5 !== 0,
    } as never as t.EndpointRow & t.TaskRow;
  });
  return sorted(rows, body, { recorded_at: "recordedAt", duration: "duration", status_code: "statusCode" });
}
export const stats = (_: Body): t.EndpointDetail["stats"] => ({
  count: 12840,
  avgDuration: 502.2,
  medianDuration: 380.4,
  p95Duration: 2140,
  p99Duration: 4922,
  apdex: 0.71,
  errorRate: 0.043,
  serverErrorRate: 0.043,
  clientErrorRate: 0.011,
  throughput: 8.9,
});

const TASKS = ["order.failed process", "emails.deliver", "nightly.report", "app:reindex --full", "thumbnails.resize"];
export const taskNames = TASKS;
export function taskGroups(body: Body): t.TaskGroup[] {
  return TASKS.map((taskName, i) => ({
    taskName,
    count: [1204, 22011, 1, 3, 81220][i],
    p50Duration: [210, 80, 2.1e6, 94e3, 12][i] * 1e6,
    p95Duration: [900, 420, 2.1e6, 120e3, 40][i] * 1e6,
    p99Duration: [1900, 800, 2.1e6, 121e3, 90][i] * 1e6,
    avgDuration: [260, 101, 2.1e6, 99e3, 15][i] * 1e6,
    lastSeen: iso(Date.parse(body.toDate) - i * 3e6),
    impact: 9e11 / (i + 1),
    errorCount: [33, 0, 0, 1, 12][i],
    hasRoot: i > 1,
    hasNonRoot: i < 2,
    trend: trend(body, i + 50, [50, 900, 0.2, 0.3, 3000][i]),
  })).filter((row) => row.taskName.includes(body.search ?? ""));
}
const AI = ["support-agent", "fraud-check", "product-summaries", "embed catalogue"];
export const aiNames = AI;
export function aiGroups(body: Body): t.AiGroup[] {
  return AI.map((traceName, i) => ({
    traceName,
    count: [412, 12790, 220, 9][i],
    toolCount: 0,
    p50Duration: [4200, 610, 1900, 300][i] * 1e6,
    p95Duration: [18100, 1400, 5200, 410][i] * 1e6,
    avgDuration: [5100, 640, 2100, 320][i] * 1e6,
    totalTokens: [4_812_000, 16_000_000, 1_200_000, null][i],
    totalCost: [84.12, 31.7, 4.021, null][i],
    estimatedCost: i > 0,
    unpricedCount: i === 3 ? 9 : 0,
    avgInputTokens: [9800, 1180, 4300, null][i],
    avgOutputTokens: [1210, 80, 900, null][i],
    lastSeen: iso(Date.parse(body.toDate) - i * 6e5),
    hasRoot: i === 3,
    hasNonRoot: i < 3,
    errorCount: [4, 0, 1, 0][i],
    models: [["claude-sonnet-5"], ["gpt-5-mini"], ["gpt-5-mini", "claude-haiku-5"], ["in-house-embed"]][i],
    trend: trend(body, i + 70, [20, 600, 10, 1][i]),
  })).filter((row) => row.traceName.includes(body.search ?? ""));
}
export function aiRows(body: Body, name: string): t.AiRow[] {
  const next = random(name.length);
  return occurrences(body, name, "endpoint", 60).map((row, i) => {
    const input = Math.floor(400 + next() * 60_000);
    const output = Math.floor(40 + next() * 1800);
    return {
      ...row,
      model: "claude-sonnet-5",
      responseModel: "claude-sonnet-5-20260401",
      provider: "anthropic",
      operation: "chat",
      inputTokens: input,
      outputTokens: output,
      totalTokens: input + output,
      cachedTokens: Math.floor(input * 0.6),
      reasoningTokens: null,
      inputCost: input * 3e-6,
      outputCost: output * 15e-6,
      totalCost: input * 3e-6 + output * 15e-6,
      costEstimated: i % 2 === 0,
      traceName: name,
      userId: `user-${i}`,
      finishReason: i % 9 ? "end_turn" : "max_tokens",
      storageKey: "",
      isError: row.statusCode >= 500,
      conversationId: hex(next, 8),
      toolCallCount: i % 3,
      toolNames: i % 3 ? ["lookup_order"] : [],
      flagged: false,
      flaggedTerms: [],
    };
  });
}
export function aiDetail(id: string): t.AiDetail {
  const row = {
    ...aiRows({ fromDate: iso(boot - 864e5), toDate: iso(boot) }, "support-agent")[3],
    id,
    traceId: SHOP_TRACE,
  };
  return {
    aiTrace: row,
    spans: [],
    exceptions: [],
    hasSpans: true,
    spanGraphStatus: { state: "complete", reasons: [], total: 16, shown: 16 },
    conversation: {
      input: null,
      output: null,
      messages: [
        {
          role: "system",
          content:
            "You are the support agent of a shop. Answer in one short paragraph. Use the tools before you promise anything.",
        },
        { role: "user", content: "Where is my order 8812? It should have been here on Tuesday." },
        {
          role: "assistant",
          content: "",
          toolCalls: [
            {
              name: "lookup_order",
              arguments: '{"order_id": "8812", "fields": ["status", "carrier", "eta"]}',
            },
          ],
        },
        {
          role: "tool",
          content: '{"status": "in_transit", "carrier": "DHL", "eta": "2026-11-23", "last_scan": "Leipzig"}',
        },
        {
          role: "assistant",
          content:
            'Your order 8812 is on its way with DHL and was last scanned in Leipzig. It should arrive on 23 November. I am sorry for the delay: would you like me to refund the express fee?\n\n```json\n{"refund": "express", "amount": 4.9}\n```',
        },
      ],
    },
  };
}

const JS_STACK = `TypeError: Cannot read properties of undefined (reading 'total')
    at cartTotal (/srv/storefront/src/cart/total.ts:18:24)
    at renderSummary (/srv/storefront/src/checkout/summary.ts:52:11)
    at Layer.handle [as handle_request] (/srv/storefront/node_modules/express/lib/router/layer.js:95:5)
    at next (/srv/storefront/node_modules/express/lib/router/route.js:149:13)
    at Route.dispatch (/srv/storefront/node_modules/express/lib/router/route.js:119:3)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)`;
const ISSUES: [string, string, string, string, number, "endpoint" | "task" | null, string, string][] = [
  [
    "a41f09c2be7710d3",
    "CardDeclined",
    "card_declined: insufficient funds",
    PY_STACK,
    1214,
    "endpoint",
    "POST /charge",
    "payments",
  ],
  [
    "0d6c1e99ab20f417",
    "TypeError",
    "Cannot read properties of undefined (reading 'total')",
    JS_STACK,
    388,
    "endpoint",
    "POST /checkout",
    "storefront",
  ],
  [
    "77aa31c0de55e801",
    "SMTPServerDisconnected",
    "Connection unexpectedly closed: timed out while talking to the relay server in the second data centre",
    PY_STACK.replaceAll("CardDeclined", "SMTPServerDisconnected"),
    33,
    "task",
    "order.failed process",
    "mailer",
  ],
  [
    "f0f0c2be7710d3a4",
    "java.util.concurrent.TimeoutException",
    "no answer from inventory in 2000 ms",
    "java.util.concurrent.TimeoutException: no answer from inventory in 2000 ms\n\tat com.acme.inventory.Client.get(Client.java:112)\n\tat com.acme.search.Ranker.rank(Ranker.java:48)\n\tat org.springframework.web.servlet.DispatcherServlet.doDispatch(DispatcherServlet.java:1089)\n\tat java.base/java.lang.Thread.run(Thread.java:1583)\nCaused by: java.net.SocketTimeoutException: Read timed out\n\tat java.base/sun.nio.ch.NioSocketImpl.timedRead(NioSocketImpl.java:278)\n\t... 21 more",
    9,
    null,
    "",
    "search",
  ],
];
const archived = new Set<string>();
export function archive(hashes: string[], on: boolean): number {
  for (const hash of hashes) on ? archived.add(hash) : archived.delete(hash);
  return hashes.length;
}
export function issueGroups(body: Body): t.IssueGroup[] {
  const rows = ISSUES.map(([exceptionHash, exceptionType, message, stackTrace, amount, ownerType, ownerName], i) => ({
    exceptionHash,
    stackTrace,
    title: `${exceptionType}: ${message}`,
    exceptionType,
    message,
    count: amount,
    firstSeen: iso(boot - (i + 1) * 97_000_000),
    lastSeen: iso(Date.parse(body.toDate) - i * 4_100_000),
    hourlyTrend: trend(body, i + 90, amount / 24),
    archived: archived.has(exceptionHash),
    ownerType,
    ownerName,
  }));
  return sorted(
    rows.filter(
      (row) =>
        row.title.toLowerCase().includes((body.search ?? "").toLowerCase()) && (body.includeArchived || !row.archived),
    ),
    body,
    { last_seen: "lastSeen", first_seen: "firstSeen", count: "count" },
  );
}
export function issueDetail(hash: string, body: Body): t.IssueDetail {
  const at = Math.max(
    0,
    ISSUES.findIndex((row) => row[0] === hash),
  );
  const issue = ISSUES[at];
  const full = { ...body, fromDate: body.fromDate || iso(boot - 864e5), toDate: body.toDate || iso(boot) };
  const next = random(at);
  const all: t.IssueOccurrence[] = Array.from({ length: Math.min(issue[4], 90) }, (_, i) => ({
    id: uuid(next),
    exceptionHash: hash,
    stackTrace: issue[3],
    rawStackTrace: null,
    exceptionType: issue[1],
    message: issue[2],
    recordedAt: iso(boot - i * 510_000),
    traceId: SHOP_TRACE,
    spanId: shopSpans(boot)[7].spanId,
    traceType: issue[5] ?? "",
    serverName: issue[7],
    appVersion: pick(next, ["1.42.0", "1.41.3"]),
    isMessage: false,
    attributes: {
      "customer.tier": pick(next, ["free", "pro"]),
      "order.id": String(8000 + i),
      "feature.flag": "new-checkout",
    },
    ownerType: issue[5],
    ownerName: issue[6],
    ownerId: uuid(next),
  }));
  const list = page(all, full);
  return {
    group: {
      ...issueGroups({ ...full, search: "", includeArchived: true })[0],
      ...issueGroups({ ...full, search: "", includeArchived: true }).find((row) => row.exceptionHash === hash),
    },
    occurrences: list.data,
    pagination: list.pagination,
    relatedEntity: issue[6]
      ? {
          traceType: issue[5]!,
          id: uuid(next),
          name: issue[6],
          statusCode: 500,
          duration: 1.02e9,
          recordedAt: iso(boot),
          traceId: SHOP_TRACE,
        }
      : null,
    taggedCount: 90,
    tags: [
      {
        key: "appVersion",
        values: [
          { value: "1.42.0", count: 71 },
          { value: "1.41.3", count: 19 },
        ],
      },
      { key: "serverName", values: [{ value: issue[7], count: 90 }] },
      {
        key: "customer.tier",
        values: [
          { value: "free", count: 52 },
          { value: "pro", count: 38 },
        ],
      },
    ].map((tag) => ({ ...tag, distinct: tag.values.length, count: 90 })),
  };
}

const LOG_LINES: [string, number, string, string][] = [
  ["INFO", 9, "storefront", "request finished POST /checkout 502 1240 ms"],
  ["ERROR", 17, "payments", "capture failed: card_declined insufficient funds (order 8812)"],
  ["INFO", 9, "cart", "cart 8812 loaded, 4 items"],
  ["WARN", 13, "search", "slow query 1460 ms: SELECT id, title, price FROM products WHERE tsv @@ plainto_tsquery($1)"],
  ["DEBUG", 5, "cart", "cache miss cart:8812"],
  ["INFO", 9, "mailer", '{"event":"mail.queued","template":"order-failed","to":"c***@example.com","attempt":1}'],
  ["FATAL", 21, "search", "worker 3 lost its connection to the index, giving up after 5 tries"],
];
export function logs(body: Body): t.LogRow[] {
  const { from, to } = span({
    ...body,
    fromDate: body.fromDate ?? iso(boot - 864e5),
    toDate: body.toDate ?? iso(Date.now()),
  });
  const next = random(5);
  const all: t.LogRow[] = [];
  for (let i = 0; i < 4000; i++) {
    const [severityText, severityNumber, serviceName, text] =
      LOG_LINES[next() < 0.6 ? (next() < 0.5 ? 0 : 2) : Math.floor(next() * LOG_LINES.length)];
    const linked = next() < 0.6;
    all.push({
      id: `log-${i}`,
      timestamp: iso(to - ((to - from) / 4000) * i).replace("Z", "123456Z"),
      observedTimestamp: iso(to),
      severityText,
      severityNumber,
      project: { id: PROJECT, name: "shop" },
      serviceName,
      body: text,
      traceId: linked ? SHOP_TRACE : "",
      spanId: linked ? shopSpans(boot)[i % 11].spanId : "",
      resourceAttributes: {
        "service.name": serviceName,
        "host.name": `${serviceName}-6f8d9`,
        "k8s.pod.name": `${serviceName}-6f8d9-x2`,
      },
      scopeName: "winston",
      scopeAttributes: {},
      logAttributes: { "http.route": "/checkout", "order.id": String(8000 + (i % 50)) },
      eventName: "",
    });
  }
  return all
    .filter(
      (row) =>
        row.body.toLowerCase().includes(String(body.search ?? "").toLowerCase()) &&
        row.severityNumber >= Number(body.minSeverity ?? 0) &&
        (!body.serviceName || row.serviceName === body.serviceName) &&
        (!body.traceId || row.traceId === body.traceId),
    )
    .slice(0, body.traceId ? 40 : 4000);
}
export function logHistogram(body: Body): t.LogHistogram {
  const { from, to } = span(body);
  const minutes = Math.max(1, Math.round((to - from) / 60_000 / 80));
  const buckets = new Map<number, Record<string, number>>();
  const services = new Map<string, number>();
  for (const row of logs(body)) {
    const at = Math.floor(Date.parse(row.timestamp) / (minutes * 60_000)) * minutes * 60_000;
    const counts = buckets.get(at) ?? {};
    counts[row.severityText] = (counts[row.severityText] ?? 0) + 17;
    buckets.set(at, counts);
    services.set(row.serviceName, (services.get(row.serviceName) ?? 0) + 1);
  }
  return {
    buckets: [...buckets].sort((a, b) => a[0] - b[0]).map(([at, counts]) => ({ timestamp: iso(at), counts })),
    intervalMinutes: minutes,
    services: [...services].map(([name, count]) => ({ name, count })),
  };
}

export function traceAnswer(traceId: string): t.TraceAnswer {
  const spans =
    traceId === BIG_TRACE ? bigSpans(boot - 600_000) : shopSpans(boot - 300_000).map((one) => ({ ...one, traceId }));
  return {
    traceId,
    nodes: [],
    spans,
    projects: [{ id: PROJECT, name: "shop" }],
    exceptions:
      traceId === BIG_TRACE
        ? []
        : issueDetail(ISSUES[0][0], {
            fromDate: "",
            toDate: "",
            pagination: { page: 1, pageSize: 1 },
          } as Body).occurrences!.map((one) => ({
            ...one,
            spanId: spans.find((s) => s.name === "POST /charge")!.spanId,
          })),
    spanGraphStatus:
      traceId === BIG_TRACE
        ? { state: "complete", reasons: [], total: spans.length, shown: spans.length }
        : { state: "partial", reasons: ["missing_parents"], total: spans.length, shown: spans.length },
  };
}
export function spanPage(body: Body): t.SpanPage {
  const { from, to } = span(body);
  const next = random(77);
  const base = shopSpans(boot);
  const all = Array.from({ length: 320 }, (_, i) => ({
    ...base[body.rootsOnly ? 0 : i % base.length],
    spanId: i ? hex(next, 16) : base[0].spanId,
    traceId: i === 0 ? SHOP_TRACE : i === 1 ? BIG_TRACE : hex(next, 32),
    startTime: iso(to - ((to - from) / 320) * i),
    duration: Math.round(next() ** 3 * 2.4e9),
    statusCode: next() < 0.1 ? 2 : 0,
  }));
  const rows = all.filter(
    (one) =>
      one.name.toLowerCase().includes(String(body.name ?? "").toLowerCase()) &&
      (!body.serviceName || one.serviceName === body.serviceName) &&
      (!body.status || one.statusCode === body.status),
  );
  return {
    ...page(sorted(rows, body, { start_time: "startTime", duration: "duration" }), body),
    services: ["storefront", "cart", "payments", "mailer"],
    isPartial: false,
  };
}
export const METRICS: t.MetricInfo[] = [
  {
    name: "http.server.request.duration.avg",
    tagKeys: ["http.route", "server_name"],
    metricType: "gauge",
    unit: "s",
    pointCount: 18230,
  },
  {
    name: "http.server.request.duration.count",
    tagKeys: ["http.route", "server_name"],
    metricType: "counter",
    unit: "1",
    pointCount: 18230,
  },
  { name: "nodejs.eventloop.delay.p99", tagKeys: ["server_name"], metricType: "gauge", unit: "s", pointCount: 8640 },
  { name: "process.memory.usage", tagKeys: ["server_name"], metricType: "gauge", unit: "By", pointCount: 8640 },
  { name: "queue.length", tagKeys: ["queue", "server_name"], metricType: "gauge", unit: "1", pointCount: 2880 },
];
export function metricAnswer(body: {
  from: string;
  to: string;
  queries: { name: string; groupBy?: string }[];
}): t.MetricAnswer {
  const range = { fromDate: body.from, toDate: body.to } as Body;
  const minutes = Math.max(1, Math.round((Date.parse(body.to) - Date.parse(body.from)) / 60_000 / 72));
  const results = body.queries.map((query) => {
    const keys = query.groupBy ? ["storefront-1", "storefront-2", "cart-1", "search-1"] : ["__all__"];
    const series = Object.fromEntries(
      keys.map((key, n) => [
        key,
        chart({ ...range, endpoint: key }, [], "endpoint").series!.map((point) => ({
          timestamp: point.timestamp,
          value: (point.value / 60_000) * (n + 1),
        })),
      ]),
    );
    return {
      name: query.name,
      unit: METRICS.find((one) => one.name === query.name)?.unit ?? "",
      series,
      intervalMinutes: minutes,
    };
  });
  return { results, intervalMinutes: minutes };
}
export function refusals(): t.Refusals {
  const sender = { address: "10.0.4.17", path: "/api/otel/v1/traces", userAgent: "OTel-OTLP-Exporter-Python/1.38.0" };
  return {
    data: [
      {
        ...sender,
        time: iso(Date.now() - 30_000),
        tokenStart: "9f3c",
        reason: "bad_token",
        message: "the token belongs to no project",
      },
      {
        ...sender,
        time: iso(Date.now() - 90_000),
        tokenStart: "",
        reason: "bad_token",
        message: "there is no Authorization header",
      },
    ],
  };
}
export function drops(empty: boolean): t.Drops {
  const seconds = (Date.now() - boot) / 1000;
  if (empty)
    return {
      data: [],
      requests: seconds > 20 ? [{ signal: "traces", outcome: "rejected", reason: "bad_token", count: 3 }] : [],
      kept: [],
      series: [],
      unpromotedAiSpans: 0,
    };
  return {
    data: [
      { signal: "spans", reason: "unmatched_root", count: 42 },
      { signal: "metrics", reason: "exponential_histogram", count: 7 },
    ],
    requests: [
      { signal: "traces", outcome: "accepted", reason: "", count: 120 },
      { signal: "traces", outcome: "rejected", reason: "bad_token", count: 3 },
      { signal: "logs", outcome: "rejected", reason: "too_large", count: 1 },
      {
        signal: "metrics",
        outcome: "rejected",
        reason: "malformed",
        count: 2,
        lastMessage: "JSON: a key at byte 1 is not a string",
        lastAt: iso(Date.now() - 60_000),
      },
    ],
    kept: [
      { signal: "spans", count: Math.floor(812 + seconds) },
      { signal: "logs", count: 240 },
    ],
    series: [],
    unpromotedAiSpans: 6,
    lastSpan: {
      name: "POST /checkout",
      serviceName: "storefront",
      traceId: SHOP_TRACE,
      receivedAt: iso(Date.now() - 2000),
    },
  };
}

export function services(): t.Services {
  const now = Math.floor(Date.now() / 60_000) * 60_000;
  const seen = (count: number, minutes = 0) => ({
    count,
    lastHour: minutes < 60 ? count : 0,
    lastSeen: count ? iso(now - minutes * 60_000) : null,
  });
  const one = (name: string, language: string | null, counts: number[], minutes = 0): t.ServiceSeen => ({
    name,
    language,
    sdkName: language && "opentelemetry",
    sdkVersion: language && "1.38.0",
    version: language && "5.12.0",
    lastSeen: iso(now - minutes * 60_000),
    traces: seen(counts[0], minutes),
    metrics: seen(counts[1], minutes),
    logs: seen(counts[2], minutes),
  });
  return {
    services: [
      one("storefront", "nodejs", [128_400, 2160, 912]),
      one("cart-service-of-the-european-region", "go", [41_007, 0, 0]),
      one("payments", "java", [12_804, 720, 88]),
      one("mail-worker", "php", [907, 360, 41], 190),
      one("", null, [0, 0, 12]),
    ],
    truncated: false,
    promoted: {
      endpoints: { names: 14, count: 61_204, first: "GET /products/:sku" },
      tasks: { names: 3, count: 907, first: "mail.order-confirmation process" },
      aiTraces: { names: 1, count: 412, first: "assistant" },
      issues: { names: 0, count: 0, first: null },
    },
  };
}

/** Loaded bit by bit; the second project is made of it then. */
let loading: number | undefined;
export function demo(load: boolean): t.DemoView {
  if (load) {
    loading = Date.now();
    projects[1].demo = true;
  }
  const percent = loading === undefined ? 0 : Math.min(100, Math.floor((Date.now() - loading) / 100));
  return {
    state: loading === undefined ? "none" : percent < 100 ? "loading" : "loaded",
    projectId: loading === undefined ? null : projects[1].id,
    percent,
    spans: percent * 731,
    message: null,
    isEmpty: loading === undefined,
  };
}
