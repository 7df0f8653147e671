// Received, refused and dropped records; services; demo data.
import type * as t from "../../src/model/types";
import { projects } from "./account.ts";
import { boot, iso } from "./common.ts";
import { SHOP_TRACE } from "./trace.ts";

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
    environments: [],
    promoted: {
      endpoints: { names: 14, count: 61_204, storedCount: 61_204, first: "GET /products/:sku" },
      tasks: { names: 3, count: 907, storedCount: 907, first: "mail.order-confirmation process" },
      aiTraces: { names: 1, count: 412, storedCount: 412, first: "assistant" },
      issues: { names: 0, count: 0, storedCount: 0, first: null },
    },
  };
}

export function serviceMap(): t.ServiceMap {
  const stats = (calls: number, errors: number, p95: number) => ({
    calls,
    errors,
    perMinute: calls / 1440,
    p50Duration: p95 / 4,
    p95Duration: p95,
  });
  const node = (name: string, of: t.ServiceMap["nodes"][number]["stats"]) => ({
    id: `service:${name}`,
    kind: "service" as const,
    name,
    stats: of,
    versions: 1,
  });
  return {
    nodes: [
      node("storefront", stats(61_204, 310, 420e6)),
      node("payments", stats(12_804, 1_620, 1_840e6)),
      node("mail-worker", stats(907, 0, 95e6)),
    ],
    edges: [
      { from: "service:storefront", to: "service:payments", stats: stats(12_804, 1_620, 1_900e6) },
      { from: "service:payments", to: "service:mail-worker", stats: stats(907, 0, 110e6) },
    ],
    nodesLeftOut: 0,
    edgesLeftOut: 0,
    truncated: false,
  };
}

/** Start of the simulated load in milliseconds since the epoch; undefined before. The second project is the demo. */
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
