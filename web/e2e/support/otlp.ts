// OTLP JSON in the form that SDKs send, posted to the public endpoint.

export interface SpanDraft {
  id: string;
  parent?: string;
  name: string;
  /** OpenTelemetry kind: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  /** Milliseconds after the trace's start. */
  at: number;
  ms: number;
  service: string;
  error?: boolean;
  attributes?: Record<string, string | number>;
  events?: { name: string; at: number; attributes: Record<string, string> }[];
}

const value = (one: string | number) => (typeof one === "number" ? { intValue: String(one) } : { stringValue: one });
const pairs = (attributes: Record<string, string | number> = {}) =>
  Object.entries(attributes).map(([key, one]) => ({ key, value: value(one) }));
const nanos = (ms: number) => String(BigInt(Math.round(ms * 1000)) * 1000n);

export function resourceSpans(traceId: string, startMs: number, drafts: SpanDraft[]) {
  const services = [...new Set(drafts.map((draft) => draft.service))];
  return services.map((service) => ({
    resource: {
      attributes: pairs({ "service.name": service, "service.version": "1.42.0", "host.name": `${service}-1` }),
    },
    scopeSpans: [
      {
        scope: { name: "e2e" },
        spans: drafts
          .filter((draft) => draft.service === service)
          .map((draft) => ({
            traceId,
            spanId: draft.id,
            parentSpanId: draft.parent ?? "",
            name: draft.name,
            kind: draft.kind,
            startTimeUnixNano: nanos(startMs + draft.at),
            endTimeUnixNano: nanos(startMs + draft.at + draft.ms),
            attributes: pairs(draft.attributes),
            events: draft.events?.map((event) => ({
              name: event.name,
              timeUnixNano: nanos(startMs + event.at),
              attributes: pairs(event.attributes),
            })),
            status: draft.error ? { code: 2, message: "upstream failed" } : {},
          })),
      },
    ],
  }));
}

export interface LogDraft {
  at: number;
  severity: number;
  text: string;
  body: string;
  service: string;
  traceId?: string;
  spanId?: string;
}
export function resourceLogs(startMs: number, drafts: LogDraft[]) {
  return drafts.map((draft) => ({
    resource: { attributes: pairs({ "service.name": draft.service }) },
    scopeLogs: [
      {
        scope: { name: "e2e" },
        logRecords: [
          {
            timeUnixNano: nanos(startMs + draft.at),
            severityNumber: draft.severity,
            severityText: draft.text,
            body: { stringValue: draft.body },
            attributes: pairs({ "order.id": 8812 }),
            traceId: draft.traceId ?? "",
            spanId: draft.spanId ?? "",
          },
        ],
      },
    ],
  }));
}

export async function post(
  url: string,
  token: string,
  signal: "traces" | "logs" | "metrics",
  body: unknown,
): Promise<Response> {
  return fetch(`${url}/api/otel/v1/${signal}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

export async function mustPost(...args: Parameters<typeof post>): Promise<void> {
  const answer = await post(...args);
  if (!answer.ok) throw new Error(`${args[2]} refused with ${answer.status}: ${await answer.text()}`);
}
