// A second project with data that the shop does not have: refused payments, tools, tags with many values, long stack
// traces, attributes of resources and scopes.
import type { Shop } from "./fixtures.ts";
import { mustPost, resourceSpans, type SpanDraft } from "./otlp.ts";
import { newProject } from "./project.ts";

export const DESK = { slow: "d0000000000000000000000000000001", worst: "d000000000000003" };
const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");
const http = (method: string, route: string, status: number) => ({
  "http.request.method": method,
  "http.route": route,
  "http.response.status_code": status,
});
const LONG = `java.lang.IllegalStateException: ${"no room ".repeat(20)}
${Array.from({ length: 8 }, (_, i) => `\tat com.example.warehouse.inventory.reservation.internal.ReservationCoordinatorImplementation.reserveEverythingThatWasOrdered${i}(ReservationCoordinatorImplementation.java:${100 + i})`).join("\n")}`;

/** A trace of 1.5 s, most of it in a query two levels below the root. */
const slow: SpanDraft[] = [
  {
    id: "d000000000000001",
    name: "POST /slow",
    kind: 2,
    at: 0,
    ms: 1500,
    service: "front",
    attributes: http("POST", "/slow", 200),
  },
  { id: "d000000000000002", parent: "d000000000000001", name: "reserve", kind: 1, at: 100, ms: 1300, service: "stock" },
  {
    id: DESK.worst,
    parent: "d000000000000002",
    name: "SELECT stock",
    kind: 3,
    at: 200,
    ms: 1000,
    service: "stock",
    attributes: { "db.system.name": "postgresql", "warehouse.reservation.coordinator_implementation_name": "classic" },
  },
  { id: "d000000000000004", parent: "d000000000000001", name: "audit", kind: 1, at: 100, ms: 200, service: "front" },
];

export async function seedDesk(shop: Shop): Promise<Shop> {
  const desk = await newProject(shop, "desk");
  const now = Date.now() - 60_000;
  const spans = [...resourceSpans(DESK.slow, now, slow)];
  for (let i = 0; i < 11; i++)
    spans.push(
      ...resourceSpans(hex(0xd1000 + i, 32), now - i * 60_000, [
        {
          id: hex(0xd1000 + i, 16),
          name: "POST /pay",
          kind: 2,
          at: 0,
          ms: 40 + i,
          service: "front",
          error: i < 4,
          attributes: { ...http("POST", "/pay", i < 4 ? 402 : 200), "user.id": `u${i}` },
          events:
            i < 4
              ? [
                  {
                    name: "exception",
                    at: 5,
                    attributes: {
                      "exception.type": "Refused",
                      "exception.message": "refused",
                      "exception.stacktrace": LONG,
                    },
                  },
                ]
              : [],
        },
      ]),
    );
  // Thirty events with a distinct user each and ten without: the ten stored values are a third of them.
  for (let i = 0; i < 40; i++)
    spans.push(
      ...resourceSpans(hex(0xd2000 + i, 32), now - i * 1000, [
        {
          id: hex(0xd2000 + i, 16),
          name: "GET /stock",
          kind: 2,
          at: 0,
          ms: 12,
          service: "stock",
          error: true,
          attributes: { ...http("GET", "/stock", 500), ...(i < 30 ? { "user.id": `user-${i}` } : {}) },
          events: [
            {
              name: "exception",
              at: 5,
              attributes: { "exception.type": "OutOfStock", "exception.message": "none left" },
            },
          ],
        },
      ]),
    );
  for (let i = 0; i < 3; i++)
    spans.push(
      ...resourceSpans(hex(0xd3000 + i, 32), now - i * 2000, [
        {
          id: hex(0xd3000 + i * 16, 16),
          name: "POST /ask",
          kind: 2,
          at: 0,
          ms: 400,
          service: "front",
          attributes: http("POST", "/ask", 200),
        },
        {
          id: hex(0xd3001 + i * 16, 16),
          parent: hex(0xd3000 + i * 16, 16),
          name: "chat",
          kind: 3,
          at: 10,
          ms: 200,
          service: "front",
          attributes: {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.conversation.id": "talk-7",
            "gen_ai.prompt.name": "orders",
            "user.id": "ann",
            "gen_ai.response.finish_reasons": i === 1 ? "length" : "stop",
            "gen_ai.input.messages": JSON.stringify([{ role: "user", content: `Where is order ${i}?` }]),
            "gen_ai.output.messages": JSON.stringify([{ role: "assistant", content: `Order ${i} is on its way.` }]),
            "gen_ai.usage.total_cost": "0.0123456",
            "trace.name": "desk-assistant",
          },
        },
        {
          id: hex(0xd3002 + i * 16, 16),
          parent: hex(0xd3000 + i * 16, 16),
          name: "execute_tool find_order",
          kind: 1,
          at: 220,
          ms: 90,
          service: "front",
          attributes: {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "find_order",
            "gen_ai.conversation.id": "talk-7",
            "gen_ai.tool.call.arguments": JSON.stringify({ order: i }),
            "gen_ai.tool.call.result": "on its way",
          },
        },
      ]),
    );
  for (const name of ["zebra process", "ant process"])
    spans.push(
      ...resourceSpans(hex(name === "ant process" ? 0xd4001 : 0xd4002, 32), now, [
        {
          id: hex(name === "ant process" ? 0xd4001 : 0xd4002, 16),
          name,
          kind: 5,
          at: 0,
          ms: 30,
          service: "mailer",
          attributes: { "messaging.system": "rabbitmq" },
        },
      ]),
    );
  await mustPost(shop.url, desk.token, "traces", { resourceSpans: spans });
  const log = (host: string, body: string) => ({
    resource: {
      attributes: [
        { key: "service.name", value: { stringValue: "stock" } },
        { key: "host.name", value: { stringValue: host } },
      ],
    },
    scopeLogs: [
      {
        scope: { name: "inventory", attributes: [{ key: "lib.lang", value: { stringValue: "java" } }] },
        logRecords: [
          {
            timeUnixNano: String(BigInt(now) * 1_000_000n),
            severityNumber: 9,
            severityText: "INFO",
            body: { stringValue: body },
            attributes: [],
          },
        ],
      },
    ],
  });
  await mustPost(shop.url, desk.token, "logs", {
    resourceLogs: [log("stock-1", "counted"), log("stock-2", "counted again")],
  });
  return desk;
}
