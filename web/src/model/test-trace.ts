// A small trace that the Connect page sends on request: an HTTP request with a database call and an exception.

function hex(bytes: number): string {
  return [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const text = (key: string, value: string) => ({ key, value: { stringValue: value } });

/** OTLP JSON for three spans that end at `nowMs`. */
export function testTrace(nowMs: number): { traceId: string; body: unknown } {
  const traceId = hex(16);
  const root = hex(8);
  const at = (ms: number) => String(BigInt(Math.round(nowMs - 400 + ms)) * 1_000_000n);
  const span = (
    spanId: string,
    parentSpanId: string,
    name: string,
    kind: number,
    from: number,
    to: number,
    more: object = {},
  ) => ({
    traceId,
    spanId,
    parentSpanId,
    name,
    kind,
    startTimeUnixNano: at(from),
    endTimeUnixNano: at(to),
    ...more,
  });
  const spans = [
    span(root, "", "GET /hello/:name", 2, 0, 400, {
      attributes: [
        text("http.request.method", "GET"),
        text("http.route", "/hello/:name"),
        text("url.path", "/hello/tidewatch"),
        { key: "http.response.status_code", value: { intValue: "200" } },
      ],
    }),
    span(hex(8), root, "SELECT greetings", 3, 40, 260, {
      attributes: [
        text("db.system.name", "postgresql"),
        text("db.query.text", "SELECT text FROM greetings WHERE name = $1"),
      ],
    }),
    span(hex(8), root, "render greeting", 1, 270, 390),
  ];
  const resource = { attributes: [text("service.name", "tidewatch-test"), text("service.version", "1.0.0")] };
  return { traceId, body: { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "tidewatch-ui" }, spans }] }] } };
}
