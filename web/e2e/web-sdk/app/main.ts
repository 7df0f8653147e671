// A small shop with a typical setup of OpenTelemetry, and one handler that reports uncaught errors.
import { SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, WebTracerProvider } from "@opentelemetry/sdk-trace-web";
import { pay } from "./checkout";

const settings = JSON.parse(document.body.dataset.otlp ?? "{}") as { url: string; token: string };
const exporter = new OTLPTraceExporter({
  url: `${settings.url}/api/otel/v1/traces`,
  headers: { Authorization: `Bearer ${settings.token}` },
});
const provider = new WebTracerProvider({
  resource: resourceFromAttributes({ "service.name": "web-shop", "service.version": "1.42.0" }),
  spanProcessors: [new BatchSpanProcessor(exporter)],
});
provider.register();

addEventListener("error", ({ error }) => {
  const span = trace.getTracer("web-shop").startSpan("uncaught error");
  span.recordException(error as Error);
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
  void provider.forceFlush().then(() => document.body.setAttribute("data-reported", "yes"));
});

document.querySelector("button")?.addEventListener("click", () => pay({ items: [], currency: "EUR" }));
