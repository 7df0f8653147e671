// Traces for the mock: a readable shop checkout, and one with 10,000 spans.
import type { Span } from "../../src/model/types";
import { hex, random } from "./random.ts";

interface Draft {
  name: string;
  service: string;
  kind: number;
  at: number;
  ms: number;
  error?: boolean;
  attributes?: Record<string, string>;
  children?: Draft[];
  flags?: Partial<Span>;
}

export const PROJECT = "7b0f0a52-0a70-5b5f-8b6e-9a8b7c6d5e4f";
export const SHOP_TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
export const BIG_TRACE = "b16b00b5000000000000000000010000";

export const PY_STACK = `Traceback (most recent call last):
  File "/usr/local/lib/python3.12/site-packages/starlette/routing.py", line 73, in app
    response = await f(request)
  File "/usr/local/lib/python3.12/site-packages/fastapi/routing.py", line 301, in app
    raw_response = await run_endpoint_function(
  File "/srv/payments/app/charge.py", line 88, in charge_card
    receipt = gateway.capture(order.total, token=card.token)
  File "/srv/payments/app/gateway.py", line 41, in capture
    raise CardDeclined(answer.code)
CardDeclined: card_declined: insufficient funds`;

function shop(): Draft {
  return {
    name: "POST /checkout",
    service: "storefront",
    kind: 2,
    at: 0,
    ms: 1240,
    error: true,
    attributes: {
      "http.request.method": "POST",
      "http.route": "/checkout",
      "http.response.status_code": "502",
      "client.address": "203.0.113.9",
      "user_agent.original": "Mozilla/5.0",
    },
    flags: { isEndpoint: true, entityName: "POST /checkout", httpStatus: 502 },
    children: [
      { name: "middleware auth", service: "storefront", kind: 1, at: 2, ms: 14 },
      {
        name: "GET /cart/:id",
        service: "cart",
        kind: 2,
        at: 22,
        ms: 96,
        flags: { isEndpoint: true, entityName: "GET /cart/:id", httpStatus: 200 },
        attributes: { "http.route": "/cart/:id", "http.request.method": "GET" },
        children: [
          {
            name: "redis GET cart:8812",
            service: "cart",
            kind: 3,
            at: 24,
            ms: 3.1,
            attributes: { "db.system.name": "redis" },
          },
          {
            name: "SELECT cart_items",
            service: "cart",
            kind: 3,
            at: 31,
            ms: 71,
            attributes: {
              "db.system.name": "postgresql",
              "db.query.text": "SELECT * FROM cart_items WHERE cart_id = $1 ORDER BY position",
            },
            flags: { dbStatement: "SELECT * FROM cart_items WHERE cart_id = $1 ORDER BY position" },
          },
        ],
      },
      {
        name: "POST /charge",
        service: "payments",
        kind: 2,
        at: 130,
        ms: 1020,
        error: true,
        flags: { isEndpoint: true, entityName: "POST /charge", httpStatus: 500 },
        attributes: { "http.route": "/charge", "http.request.method": "POST", "http.response.status_code": "500" },
        children: [
          {
            name: "chat gpt-5-mini fraud-check",
            service: "payments",
            kind: 3,
            at: 140,
            ms: 610,
            flags: { isAiTrace: true, entityName: "fraud-check" },
            attributes: {
              "gen_ai.request.model": "gpt-5-mini",
              "gen_ai.usage.input_tokens": "1240",
              "gen_ai.usage.output_tokens": "86",
            },
          },
          {
            name: "POST api.gateway.example/capture",
            service: "payments",
            kind: 3,
            at: 770,
            ms: 340,
            error: true,
            attributes: { "server.address": "api.gateway.example", "http.response.status_code": "402" },
          },
        ],
      },
      {
        name: "publish order.failed",
        service: "storefront",
        kind: 4,
        at: 1190,
        ms: 6,
        children: [
          {
            name: "order.failed process",
            service: "mailer",
            kind: 5,
            at: 1204,
            ms: 220,
            flags: { isTask: true, entityName: "order.failed process" },
            children: [{ name: "smtp send", service: "mailer", kind: 3, at: 1230, ms: 180 }],
          },
        ],
      },
    ],
  };
}

export function shopSpans(startMs: number): Span[] {
  return flatten(shop(), startMs, SHOP_TRACE, 7);
}

/** 10,000 spans in bushy batches over eight services. */
export function bigSpans(startMs: number): Span[] {
  const next = random(42);
  const services = [
    "gateway",
    "cart",
    "search",
    "pricing",
    "inventory",
    "users",
    "ranker",
    "features",
    "cache",
    "audit",
  ];
  let all = 9_999;
  let left = 0;
  const grow = (draft: Draft, depth: number) => {
    draft.children = [];
    let at = draft.at + next() * 0.4;
    const wanted = depth === 0 ? 400 : Math.floor(next() * (depth > 4 ? 3 : 7));
    for (let i = 0; i < wanted && (depth === 0 ? all > 0 : left > 0); i++) {
      if (depth === 0) left = Math.min(all, 25);
      left -= 1;
      all -= 1;
      const ms = depth === 0 ? (draft.ms / 420) * (0.4 + next()) : (draft.ms / (wanted + 1)) * (0.2 + next() * 0.7);
      const child: Draft = {
        name: `${["GET", "SELECT", "HGET", "rank", "load"][Math.floor(next() * 5)]} ${services[Math.floor(next() * 10)]}.${Math.floor(next() * 90)}`,
        service: services[Math.floor(next() ** 2 * 10)],
        kind: Math.floor(next() * 3) + 1,
        at,
        ms,
        error: next() < 0.006,
      };
      draft.children.push(child);
      at += ms * (0.3 + next() * 0.7);
      grow(child, depth + 1);
    }
  };
  const root: Draft = {
    name: "batch /reindex",
    service: "gateway",
    kind: 2,
    at: 0,
    ms: 24_000,
    flags: { isEndpoint: true, entityName: "POST /reindex", httpStatus: 200 },
  };
  grow(root, 0);
  while (all > 0) {
    all -= 1;
    root.children?.push({
      name: `tail ${all}`,
      service: "audit",
      kind: 1,
      at: 20_000 + next() * 3_900,
      ms: next() * 8,
    });
  }
  return flatten(root, startMs, BIG_TRACE, 99);
}

function flatten(root: Draft, startMs: number, traceId: string, seed: number): Span[] {
  const next = random(seed);
  const spans: Span[] = [];
  const walk = (draft: Draft, parent: string, depth: number) => {
    const spanId = hex(next, 16);
    const ns = BigInt(Math.round(draft.at * 1e6)) + BigInt(startMs) * 1_000_000n;
    const ms = Number(ns / 1_000_000n);
    const fraction = (ns % 1_000_000_000n).toString().padStart(9, "0");
    const startTime = `${new Date(ms).toISOString().slice(0, 19)}.${fraction}Z`;
    spans.push({
      projectId: PROJECT,
      traceId,
      spanId,
      parentSpanId: parent,
      name: draft.name,
      startTime,
      recordedAt: startTime,
      duration: Math.round(draft.ms * 1e6),
      spanKind: draft.kind,
      statusCode: draft.error ? 2 : 0,
      statusMessage: draft.error ? "upstream failed" : "",
      serviceName: draft.service,
      scopeName: "@opentelemetry/instrumentation-http",
      attributes: draft.attributes ?? {},
      resourceAttributes: {
        "service.name": draft.service,
        "service.version": "1.42.0",
        "telemetry.sdk.language": draft.service === "payments" ? "python" : "nodejs",
        "host.name": `${draft.service}-6f8d9`,
      },
      events:
        draft.name === "POST /charge"
          ? [
              {
                name: "exception",
                time: startTime,
                attributes: {
                  "exception.type": "CardDeclined",
                  "exception.message": "card_declined: insufficient funds",
                  "exception.stacktrace": PY_STACK,
                },
              },
            ]
          : [],
      links:
        draft.kind === 5
          ? [
              {
                traceId: "0af7651916cd43dd8448eb211c80319c",
                spanId: "b7ad6b7169203331",
                attributes: { "messaging.batch": "1" },
              },
            ]
          : [],
      isEndpoint: false,
      isTask: false,
      isAiTrace: false,
      entityId: null,
      entityName: null,
      depth,
      hasMissingParent: false,
      ...draft.flags,
    });
    for (const child of draft.children ?? []) walk(child, spanId, depth + 1);
  };
  walk(root, "", 0);
  return spans;
}
