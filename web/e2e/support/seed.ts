// The data of the tests: a shop with occasional checkout failures, a queue, a model call, logs, metrics, 10,000 spans.
import { type LogDraft, mustPost, resourceLogs, resourceSpans, type SpanDraft } from "./otlp.ts";

export const CHECKOUT = "4bf92f3577b34da6a3ce929d0e0e4736";
export const BIG = "b16b00b5000000000000000000010000";
export const SPAN = {
  checkout: "00f067aa0ba902b7",
  charge: "00f067aa0ba902b9",
  cart: "00f067aa0ba902b8",
  fraud: "00f067aa0ba902ba",
};
const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");

export const STACK = `Traceback (most recent call last):
  File "/usr/local/lib/python3.12/site-packages/fastapi/routing.py", line 301, in app
    raw_response = await run_endpoint_function(
  File "/usr/local/lib/python3.12/site-packages/starlette/routing.py", line 73, in app
    response = await f(request)
  File "/srv/payments/app/gateway.py", line 41, in capture
    raise CardDeclined(answer.code)
CardDeclined: card_declined: insufficient funds`;

const http = (method: string, route: string, status: number) => ({
  "http.request.method": method,
  "http.route": route,
  "http.response.status_code": status,
});

function checkout(failed: boolean, shift: number): SpanDraft[] {
  const id = (base: string) => (shift ? hex(Number.parseInt(base.slice(4), 16) + shift * 16, 16) : base);
  const exception = {
    name: "exception",
    at: 900,
    attributes: {
      "exception.type": "CardDeclined",
      "exception.message": "card_declined: insufficient funds",
      "exception.stacktrace": STACK,
    },
  };
  return [
    {
      id: id(SPAN.checkout),
      name: "POST /checkout",
      kind: 2,
      at: 0,
      ms: failed ? 1240 : 220,
      service: "storefront",
      error: failed,
      attributes: http("POST", "/checkout", failed ? 502 : 200),
    },
    {
      id: id(SPAN.cart),
      parent: id(SPAN.checkout),
      name: "SELECT cart_items",
      kind: 3,
      at: 20,
      ms: 70,
      service: "storefront",
      attributes: { "db.system.name": "postgresql", "db.query.text": "SELECT * FROM cart_items WHERE cart_id = $1" },
    },
    {
      id: id(SPAN.charge),
      parent: id(SPAN.checkout),
      name: "POST /charge",
      kind: 2,
      at: 120,
      ms: failed ? 1000 : 80,
      service: "payments",
      error: failed,
      attributes: http("POST", "/charge", failed ? 500 : 200),
      events: failed ? [exception] : [],
    },
    {
      id: id(SPAN.fraud),
      parent: id(SPAN.charge),
      name: "fraud-check",
      kind: 3,
      at: 130,
      ms: failed ? 600 : 30,
      service: "payments",
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.usage.input_tokens": 1240,
        "gen_ai.usage.output_tokens": 86,
        "trace.name": "fraud-check",
      },
    },
    {
      id: id("00f067aa0ba902bb"),
      parent: id(SPAN.checkout),
      name: "order.placed process",
      kind: 5,
      at: 200,
      ms: 150,
      service: "mailer",
      attributes: { "messaging.system": "rabbitmq", "messaging.destination.name": "order.placed" },
    },
  ];
}

export async function seed(url: string, token: string): Promise<void> {
  const now = Date.now() - 60_000;
  const traces: unknown[] = [];
  for (let i = 0; i < 30; i++) {
    const traceId = i === 0 ? CHECKOUT : hex(0xabc000 + i, 32);
    traces.push(...resourceSpans(traceId, now - i * 90_000, checkout(i % 6 === 0, i)));
    traces.push(
      ...resourceSpans(hex(0xdef000 + i, 32), now - i * 61_000, [
        {
          id: hex(0x5000 + i, 16),
          name: "GET /products/:slug",
          kind: 2,
          at: 0,
          ms: 18 + i,
          service: "storefront",
          attributes: http("GET", "/products/:slug", 200),
        },
      ]),
    );
  }
  // A root that is no request, task or AI call: dropped and reported on the Connect page.
  traces.push(
    ...resourceSpans(hex(0xd0d0, 32), now, [
      { id: hex(0xd0d0, 16), name: "startup", kind: 1, at: 0, ms: 5, service: "storefront" },
    ]),
  );
  await mustPost(url, token, "traces", { resourceSpans: traces });
  await seedLogs(url, token, now);
  await seedMetrics(url, token, now);
}

async function seedLogs(url: string, token: string, now: number): Promise<void> {
  const drafts: LogDraft[] = [
    {
      at: 30,
      severity: 9,
      text: "INFO",
      body: "cart 8812 loaded, 4 items",
      service: "storefront",
      traceId: CHECKOUT,
      spanId: SPAN.checkout,
    },
    {
      at: 1100,
      severity: 17,
      text: "ERROR",
      body: "capture failed: card_declined",
      service: "payments",
      traceId: CHECKOUT,
      spanId: SPAN.charge,
    },
    { at: 2000, severity: 13, text: "WARN", body: "slow query 1460 ms", service: "search" },
  ];
  await mustPost(url, token, "logs", { resourceLogs: resourceLogs(now, drafts) });
}

async function seedMetrics(url: string, token: string, now: number): Promise<void> {
  const point = (i: number, queue: string) => ({
    timeUnixNano: String(BigInt(now - i * 60_000) * 1_000_000n),
    asDouble: 10 + (i % 7) * (queue === "mail" ? 1 : 2),
    attributes: [{ key: "queue", value: { stringValue: queue } }],
  });
  const dataPoints = Array.from({ length: 40 }, (_, i) => [point(i, "mail"), point(i, "invoices")]).flat();
  const resource = { attributes: [{ key: "service.name", value: { stringValue: "storefront" } }] };
  await mustPost(url, token, "metrics", {
    resourceMetrics: [
      { resource, scopeMetrics: [{ metrics: [{ name: "queue.length", unit: "1", gauge: { dataPoints } }] }] },
    ],
  });
}

/** One trace of 10,000 spans, exported in requests of 2,500 spans: a root and 99 stages with 100 calls each. */
export async function seedBig(url: string, token: string): Promise<void> {
  const now = Date.now() - 120_000;
  const drafts: SpanDraft[] = [
    {
      id: hex(1, 16),
      name: "POST /reindex",
      kind: 2,
      at: 0,
      ms: 20_000,
      service: "gateway",
      attributes: http("POST", "/reindex", 200),
    },
  ];
  for (let stage = 0; stage < 99; stage++) {
    const stageId = hex(0x10000 + stage * 256, 16);
    drafts.push({
      id: stageId,
      parent: hex(1, 16),
      name: `stage ${stage}`,
      kind: 1,
      at: stage * 200,
      ms: 190,
      service: `service-${stage % 10}`,
    });
    for (let call = 0; call < 100; call++)
      drafts.push({
        id: hex(0x10000 + stage * 256 + call + 1, 16),
        parent: stageId,
        name: `call ${stage}.${call}`,
        kind: 3,
        at: stage * 200 + call * 1.9,
        ms: 1.5,
        service: `service-${(stage + call) % 10}`,
        error: call === 57 && stage % 20 === 0,
      });
  }
  for (let from = 0; from < drafts.length; from += 2500)
    await mustPost(url, token, "traces", { resourceSpans: resourceSpans(BIG, now, drafts.slice(from, from + 2500)) });
}
