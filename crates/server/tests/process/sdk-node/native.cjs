// A request and a task run with the native SDK. The request is also a span of the OpenTelemetry SDK: one trace.
const { trace } = require("@opentelemetry/api");
const traceway = require("@tracewayapp/backend");
const http = require("node:http");

traceway.init(process.env.TRACEWAY_CONNECTION, { version: "1.4.0", serverName: "api-1" });

const server = http.createServer((request, response) => {
  const { traceId } = trace.getActiveSpan().spanContext();
  const distributedTraceId = traceId.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  const options = { endpoint: `${request.method} /books/:id`, clientIP: "203.0.113.9", distributedTraceId };
  traceway.withTraceContext(options, () => {
    traceway.setTraceAttribute("tenant", "t1");
    traceway.endSpan(traceway.startSpan("load books"));
    traceway.captureException(new TypeError("shelf is empty"));
    traceway.captureMessage("books listed");
    traceway.captureMetricWithTags("queue.length", 12, { queue: "mail" });
    traceway.setTraceResponseInfo(500, 3);
    response.writeHead(500).end("no\n");
    traceway.captureCurrentTrace();
  });
});

server.listen(0, "127.0.0.1", async () => {
  await fetch(`http://127.0.0.1:${server.address().port}/books/7`).then((answer) => answer.text());
  await traceway.measureTask("nightly.report", async () => {});
  await traceway.shutdown();
  server.close(() => process.kill(process.pid, "SIGTERM"));
});
