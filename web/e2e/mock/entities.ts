// Endpoints, tasks and AI traces: rankings, charts, pages of one entity, single rows.
import type * as t from "../../src/model/types";
import { type Body, boot, iso, page, sorted, span, trend } from "./common.ts";
import { hex, pick, random, uuid } from "./random.ts";
import { BIG_TRACE, PROJECT, SHOP_TRACE } from "./trace.ts";

type Handler = (body: Body, url: URL, parts: string[]) => unknown;

/** Fields common to groups of all kinds. */
interface Group {
  count: number;
  storedCount: number;
  p50Duration: number;
  p95Duration: number;
  avgDuration: number;
  lastSeen: string;
  errorCount: number;
  hasRoot: boolean;
  hasNonRoot: boolean;
  trend: t.Point[];
}

function group(body: Body, i: number, calls: number, [p50, p95]: number[], errorCount: number): Group {
  return {
    count: calls,
    storedCount: calls,
    p50Duration: p50 * 1e6,
    p95Duration: p95 * 1e6,
    avgDuration: p50 * 1.3e6,
    lastSeen: iso(Date.parse(body.toDate) - i * 41_000),
    errorCount,
    hasRoot: true,
    hasNonRoot: false,
    trend: trend(body, i + 3, calls / 24, i === 4),
  };
}

/** The groups whose name matches the search, in the requested order; the first key is the default. */
function ranked<T extends Group, K extends string & keyof T>(
  rows: T[],
  name: K,
  body: Body,
  orders: Record<string, keyof T>,
) {
  const wanted = (body.search ?? "").toLowerCase();
  return sorted(
    rows.filter((row) => String(row[name]).toLowerCase().includes(wanted)),
    body,
    {
      ...orders,
      count: "count",
      p50_duration: "p50Duration",
      p95_duration: "p95Duration",
      last_seen: "lastSeen",
      error_rate: "errorCount",
    },
  );
}

const ENDPOINTS: [string, number, number, number, number, t.ImpactLevel, string, Partial<t.EndpointGroup>][] = [
  ["POST /checkout", 12840, 380, 2140, 0.043, "critical", "4.3 % of calls fail; slow p99", {}],
  ["GET /search", 81022, 210, 1460, 0.0021, "high", "many slow calls", {}],
  ["GET /cart/:id", 64211, 41, 180, 0.0004, "good", "", { hasNonRoot: true, hasRoot: true }],
  ["POST /charge", 12790, 330, 1980, 0.041, "critical", "4.1 % of calls fail", { hasRoot: false, hasNonRoot: true }],
  ["UNMATCHED", 5412, 2, 7, 0, "good", "", {}],
  ["GET /events", 320, 0, 0, 0, "good", "", { streamCount: 320, apdex: null }],
  // Sampled by its sender.
  ["GET /products/:slug", 120410, 18, 66, 0.0001, "good", "", { storedCount: 12041 }],
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
  const rows = ENDPOINTS.map(([endpoint, calls, p50, p95, err, impactLevel, impactReason, more], i) => {
    const errors = Math.round(calls * err);
    return {
      ...group(body, i, calls, [p50, p95], errors),
      endpoint,
      p99Duration: p95 * 2.3e6,
      impact: level[impactLevel] + (10 - i) / 200,
      impactReason,
      impactLevel,
      apdex: Math.max(0.4, 1 - p95 / 5000 - err * 2),
      serverErrorCount: errors,
      clientErrorCount: endpoint === "UNMATCHED" ? calls : Math.round(calls * 0.01),
      streamCount: 0,
      ...more,
    };
  });
  return ranked(rows, "endpoint", body, {
    impact: "impact",
    p99_duration: "p99Duration",
    endpoint: "endpoint",
    server_error_rate: "serverErrorCount",
  });
}

const TASKS: [string, number, number, number, number, number][] = [
  ["order.failed process", 1204, 210, 900, 1900, 33],
  ["emails.deliver", 22011, 80, 420, 800, 0],
  ["nightly.report", 1, 2.1e6, 2.1e6, 2.1e6, 0],
  ["app:reindex --full", 3, 94e3, 120e3, 121e3, 1],
  ["thumbnails.resize", 81220, 12, 40, 90, 12],
];
function taskGroups(body: Body): t.TaskGroup[] {
  const rows = TASKS.map(([taskName, runs, p50, p95, p99, errors], i) => ({
    ...group(body, i, runs, [p50, p95], errors),
    taskName,
    p99Duration: p99 * 1e6,
    impact: 9e11 / (i + 1),
    hasRoot: i > 1,
    hasNonRoot: i < 2,
  }));
  return ranked(rows, "taskName", body, { impact: "impact", p99_duration: "p99Duration", task_name: "taskName" });
}

const AI: [string, number, number, number, number, number | null, number | null, string[]][] = [
  ["support-agent", 412, 4200, 18_100, 4, 4_812_000, 84.12, ["claude-sonnet-5"]],
  ["fraud-check", 12_790, 610, 1400, 0, 16_000_000, 31.7, ["gpt-5-mini"]],
  ["product-summaries", 220, 1900, 5200, 1, 1_200_000, 4.021, ["gpt-5-mini", "claude-haiku-5"]],
  ["embed catalogue", 9, 300, 410, 0, null, null, ["in-house-embed"]],
];
function aiGroups(body: Body): t.AiGroup[] {
  const rows = AI.map(([traceName, calls, p50, p95, errors, totalTokens, totalCost, models], i) => ({
    ...group(body, i, calls, [p50, p95], errors),
    traceName,
    toolCount: 0,
    totalTokens,
    totalCost,
    estimatedCost: i > 0,
    unpricedCount: totalCost === null ? calls : 0,
    inputTokens: totalTokens && Math.round(totalTokens * 0.9),
    outputTokens: totalTokens && Math.round(totalTokens * 0.1),
    cachedTokens: totalTokens && Math.round(totalTokens * 0.5),
    reasoningTokens: null,
    flaggedCount: i === 0 ? 3 : 0,
    avgInputTokens: totalTokens && Math.round((totalTokens * 0.9) / calls),
    avgOutputTokens: totalTokens && Math.round((totalTokens * 0.1) / calls),
    hasRoot: i === 3,
    hasNonRoot: i < 3,
    models,
  }));
  return ranked(rows, "traceName", body, {
    total_cost: "totalCost",
    total_tokens: "totalTokens",
    trace_name: "traceName",
  });
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

/** Single rows of one entity; `field` holds its name. */
function rows(body: Body, name: string, field: "endpoint" | "taskName" | "traceName", amount = 240): t.Occurrence[] {
  const next = random(name.length * 7);
  const { from, to } = span(body);
  const all = Array.from({ length: amount }, (_, i) => {
    const status = field === "endpoint" ? (next() < 0.05 ? 500 : next() < 0.04 ? 404 : 200) : 0;
    return {
      id: uuid(next),
      projectId: PROJECT,
      [field]: name,
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
    };
  });
  return sorted(all, body, { recorded_at: "recordedAt", duration: "duration", status_code: "statusCode" });
}

function aiRows(body: Body, name: string): t.AiRow[] {
  const next = random(name.length);
  return rows(body, name, "traceName", 60).map((row, i) => {
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
      cacheWriteTokens: null,
      reasoningTokens: null,
      inputCost: input * 3e-6,
      outputCost: output * 15e-6,
      totalCost: input * 3e-6 + output * 15e-6,
      costEstimated: i % 2 === 0,
      isCounted: true,
      traceName: name,
      userId: `user-${i}`,
      finishReason: i % 9 ? "end_turn" : "max_tokens",
      storageKey: "",
      isError: i % 30 === 7,
      conversationId: hex(next, 8),
      toolCallCount: i % 3,
      toolNames: i % 3 ? ["lookup_order"] : [],
      flagged: i % 9 === 0,
      flags: i % 9 ? [] : ["truncated"],
      flaggedTerms: [],
    };
  });
}

function aiDetail(id: string): t.AiDetail {
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

function totals(body: Body, i: number): t.AiTotals {
  return {
    count: 12 - i,
    storedCount: 12 - i,
    toolCount: 3,
    errorCount: i === 1 ? 1 : 0,
    flaggedCount: i === 2 ? 1 : 0,
    totalTokens: 48_000,
    inputTokens: 44_000,
    outputTokens: 4000,
    cachedTokens: 20_000,
    reasoningTokens: 1200,
    totalCost: 0.42 / (i + 1),
    estimatedCost: i > 0,
    unpricedCount: 0,
    p50Duration: 1.9e9,
    p95Duration: 6.2e9,
    firstSeen: iso(Date.parse(body.toDate) - (i + 1) * 600_000),
    lastSeen: iso(Date.parse(body.toDate) - i * 600_000),
    models: ["claude-sonnet-5"],
  };
}

function conversations(body: Body): t.AiConversation[] {
  const next = random(5);
  return Array.from({ length: 8 }, (_, i) => ({
    conversationId: `thread-${hex(next, 8)}`,
    traceName: "support-agent",
    userId: `user-${i}`,
    ...totals(body, i),
  }));
}

function users(body: Body): t.AiUser[] {
  return Array.from({ length: 6 }, (_, i) => ({ userId: `user-${i}`, conversationCount: 6 - i, ...totals(body, i) }));
}

function conversation(body: Body): t.ConversationPage {
  const data = aiRows({ fromDate: iso(boot - 864e5), toDate: iso(boot) }, "support-agent")
    .slice(0, 2)
    .reverse()
    .map((call, i): t.ConversationTurn => {
      const messages = aiDetail(call.id).conversation?.messages ?? [];
      const shown = i ? messages.slice(3) : messages.slice(0, 3);
      const run: t.TurnSpan = {
        traceId: call.traceId,
        spanId: "00000000000000a1",
        depth: 0,
        name: "execute_tool lookup_order",
        kind: "tool",
        serviceName: "storefront-1",
        startTime: call.recordedAt,
        duration: 84e6,
        isError: false,
        rowId: call.id,
        toolName: "lookup_order",
        arguments: '{"order_id": "8812"}',
        result: '{"status": "in_transit"}',
        model: "",
        totalCost: null,
        flags: [],
      };
      const query = { ...run, spanId: "00000000000000a2", depth: 1, name: "SELECT orders", kind: "span" as const };
      return {
        call: { ...call, conversationId: String(body.conversationId), attributes: {} },
        messages: shown.map((message) => ({ ...message, isOutput: message.role === "assistant", cutBytes: 0 })),
        repeatedMessages: i ? 3 : 0,
        tools: i ? [] : [run, { ...query, toolName: "", arguments: "", result: "", rowId: null, duration: 31e6 }],
        toolsCut: false,
      };
    });
  return {
    conversation: { ...conversations(body)[0], conversationId: String(body.conversationId) },
    data,
    pagination: { page: 1, pageSize: 20, total: 2, totalPages: 1 },
    isPartial: false,
  };
}

const STATS = {
  count: 12840,
  storedCount: 1284,
  avgDuration: 502.2,
  medianDuration: 380.4,
  p95Duration: 2140,
  p99Duration: 4922,
  apdex: 0.71,
  errorRate: 0.043,
  serverErrorRate: 0.043,
  clientErrorRate: 0.011,
  throughput: 8.9,
};
const AI_STATS = {
  ...STATS,
  count: 412,
  storedCount: 412,
  toolCount: 0,
  totalTokens: 4_812_000,
  totalCost: 84.12,
  errorRate: 0.009,
};
const STATUS_COUNTS = { "200": 12100, "302": 44, "404": 120, "422": 24, "500": 380, "502": 172 };

/** Routes of one kind: ranking, chart and page. `kind` is the field of the name in requests and charts. */
function routes(
  path: string,
  kind: "endpoint" | "task" | "trace",
  names: string[],
  groups: (body: Body) => Group[],
  single: (body: Body, name: string) => unknown[],
  more: object,
): [string, Handler][] {
  return [
    [`POST ${path}/grouped`, (body) => page(groups(body), body)],
    [`POST ${path}/chart`, (body) => chart(body, names, kind)],
    [
      `POST ${path}/${kind}`,
      (body, url) => ({ ...page(single(body, url.searchParams.get(kind) ?? ""), body), ...more }),
    ],
  ];
}
const first = (all: [string, ...unknown[]][]) => all.map(([name]) => name);

export const ENTITIES: [string, Handler][] = [
  ...routes(
    "/api/endpoints",
    "endpoint",
    first(ENDPOINTS),
    endpointGroups,
    (body, name) => rows(body, name, "endpoint"),
    {
      stats: STATS,
      statusCounts: STATUS_COUNTS,
    },
  ),
  ...routes("/api/tasks", "task", first(TASKS), taskGroups, (body, name) => rows(body, name, "taskName"), {
    stats: STATS,
  }),
  ...routes("/api/ai-traces", "trace", first(AI), aiGroups, aiRows, { stats: AI_STATS }),
  ["POST /api/ai-conversations/grouped", (body) => page(conversations(body), body)],
  ["GET /api/ai-prices", () => ({ day: "2026-02-17", prices: 181 })],
  ["POST /api/ai-users/grouped", (body) => page(users(body), body)],
  ["POST /api/ai-conversations/conversation", (body) => conversation(body)],
  ["POST /api/ai-traces", (body) => page(aiRows(body, "support-agent"), body)],
  ["POST /api/ai-traces/:id", (_body, _url, parts) => aiDetail(parts[3])],
];
