// Edge workers, nginx, the OpenTelemetry Collector, and curl.
import { grpcEndpoint, type Snippet, type Target } from "./types";

export function edge({ otlp, token, port }: Target): Snippet {
  return {
    key: "edge",
    label: "Edge worker",
    group: "Edge",
    signals: ["traces"],
    steps: [
      {
        title: "Install",
        language: "sh",
        code: "npm install @opentelemetry/api@1.10.0 @opentelemetry/sdk-trace@3.1.1 @opentelemetry/resources@3.1.1 @opentelemetry/exporter-trace-otlp-proto@0.301.1",
      },
      {
        title: "telemetry.js",
        language: "js",
        file: "telemetry.js",
        code: `import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";

const resource = resourceFromAttributes({ "service.name": "my-worker" });

/** Runs the handler of a request in a SERVER span, which is sent after the response. */
export async function traced(request, route, ctx, handler) {
  // A provider for each request: a worker may not wait for the I/O of another request.
  const exporter = new OTLPTraceExporter({
    url: "${otlp}/v1/traces",
    headers: { Authorization: "Bearer ${token}" },
  });
  const provider = new TracerProvider({ resource, spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const span = provider.getTracer("worker").startSpan(\`\${request.method} \${route}\`, {
    kind: SpanKind.SERVER,
    attributes: {
      "http.request.method": request.method,
      "http.route": route,
      "url.path": new URL(request.url).pathname,
    },
  });
  try {
    const response = await handler(span);
    span.setAttribute("http.response.status_code", response.status);
    return response;
  } catch (error) {
    span.recordException(error);
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.setAttribute("http.response.status_code", 500);
    throw error;
  } finally {
    span.end();
    ctx.waitUntil(provider.forceFlush());
  }
}`,
      },
      {
        title: "A worker to try it with: worker.js",
        language: "js",
        file: "worker.js",
        code: `import { traced } from "./telemetry.js";

const USER = new URLPattern({ pathname: "/users/:id" });

export default {
  fetch(request, env, ctx) {
    const user = USER.exec(request.url);
    if (!user) return new Response("not found\\n", { status: 404 });
    return traced(request, USER.pathname, ctx, () => new Response(\`user \${user.pathname.groups.id}\\n\`));
  },
};`,
      },
      {
        title: "wrangler.jsonc (Cloudflare)",
        language: "json",
        file: "wrangler.jsonc",
        code: `{
  "name": "my-worker",
  "main": "worker.js",
  "compatibility_date": "2026-11-01"
}`,
      },
      { title: "Run", language: "sh", code: `npx wrangler dev --port ${port}` },
    ],
    check: { request: `curl http://localhost:${port}/users/7`, endpoint: "GET /users/:id", service: "my-worker" },
    note: "The worker must reach this server from where it runs. The same code works in Deno, Bun, Vercel and Netlify edge functions: there, hand over their waitUntil.",
  };
}

export function cloudflare({ otlp, token }: Target): Snippet {
  return {
    key: "cloudflare",
    label: "Cloudflare's own export",
    group: "Edge",
    signals: ["traces", "logs"],
    steps: [
      {
        title: "In the dashboard: Workers & Pages, Observability, Destinations, Add destination, once for each",
        language: "text",
        code: `Name           tidewatch-traces
Type           Traces
OTLP endpoint  ${otlp}/v1/traces
Header         Authorization: Bearer ${token}

Name           tidewatch-logs
Type           Logs
OTLP endpoint  ${otlp}/v1/logs
Header         Authorization: Bearer ${token}`,
      },
      {
        title: "In wrangler.jsonc, then npx wrangler deploy",
        language: "json",
        file: "wrangler.jsonc",
        code: `{
  "observability": {
    "traces": { "enabled": true, "destinations": ["tidewatch-traces"] },
    "logs": { "enabled": true, "destinations": ["tidewatch-logs"] }
  }
}`,
      },
    ],
    note: "No code changes, but no routes either: there is an Endpoint for each path. Metrics are not exported. Cloudflare sends to https addresses only.",
  };
}

/** The module speaks OTLP/gRPC only. */
export function nginx({ otlp, token }: Target): Snippet {
  return {
    key: "nginx",
    label: "nginx",
    group: "Edge",
    signals: ["traces"],
    steps: [
      {
        title: "Get the module, with nginx from nginx.org",
        language: "sh",
        code: "apt-get install nginx nginx-module-otel",
      },
      {
        title: "In nginx.conf",
        language: "nginx",
        code: `load_module modules/ngx_otel_module.so;

http {
  otel_exporter {
    endpoint ${grpcEndpoint(otlp)};
    header authorization "Bearer ${token}";
  }
  otel_service_name nginx;
  otel_trace on;
  # The upstream continues the trace.
  otel_trace_context propagate;

  # Your servers.
}`,
      },
      { title: "Check and reload", language: "sh", code: "nginx -t && nginx -s reload" },
    ],
    note: "Needs version 0.1.2 of the module or newer. Endpoints carry the locations of your configuration. The module speaks OTLP/gRPC only.",
  };
}

/** The exporter of the chosen protocol: its name and its settings. */
function collectorExporter({ otlp, token, protocol }: Target): [string, string] {
  if (protocol === "http") {
    return [
      "otlp_http/tidewatch",
      `    endpoint: ${otlp}
    compression: gzip
    headers:
      Authorization: "Bearer ${token}"`,
    ];
  }
  const endpoint = new URL(grpcEndpoint(otlp));
  return [
    "otlp_grpc/tidewatch",
    `    endpoint: ${grpcEndpoint(otlp).replace(/^.*\/\//, "")}
    tls:
      insecure: ${endpoint.protocol === "http:"}
    compression: gzip
    headers:
      authorization: "Bearer ${token}"`,
  ];
}

export function collector(target: Target): Snippet {
  const [exporter, settings] = collectorExporter(target);
  return {
    key: "collector",
    label: "OTel Collector",
    group: "Collector & curl",
    offersGrpc: true,
    signals: ["traces", "metrics", "logs"],
    steps: [
      {
        title: "collector.yaml",
        language: "yaml",
        file: "collector.yaml",
        code: `receivers:
  otlp:
    protocols:
      http:
        endpoint: localhost:4318
      grpc:
        endpoint: localhost:4317

processors:
  batch:
    send_batch_max_size: 5000
    send_batch_size: 5000

exporters:
  ${exporter}:
${settings}

service:
  pipelines:
    traces:
      receivers: [otlp]
      processors: [batch]
      exporters: [${exporter}]
    metrics:
      receivers: [otlp]
      processors: [batch]
      exporters: [${exporter}]
    logs:
      receivers: [otlp]
      processors: [batch]
      exporters: [${exporter}]`,
      },
      { title: "Run", language: "sh", code: "otelcol --config collector.yaml" },
    ],
    note: `Keep batches under 10 MB. Collectors older than 0.144 know the exporter as ${target.protocol === "grpc" ? "otlp" : "otlphttp"}.`,
  };
}

export function curl({ otlp, token }: Target): Snippet {
  return {
    key: "curl",
    label: "curl",
    group: "Collector & curl",
    signals: ["traces"],
    steps: [
      {
        title: "One request, no SDK: your first span",
        language: "sh",
        code: `NOW=$(date +%s)
TRACE=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')
SPAN=$(od -An -N8 -tx1 /dev/urandom | tr -d ' \\n')
curl -sS ${otlp}/v1/traces \\
  -H "Authorization: Bearer ${token}" \\
  -H "Content-Type: application/json" \\
  -d @- <<EOF
{"resourceSpans":[{
  "resource":{"attributes":[{"key":"service.name","value":{"stringValue":"hello-service"}}]},
  "scopeSpans":[{"spans":[{
    "traceId":"$TRACE","spanId":"$SPAN","name":"GET /hello","kind":2,
    "startTimeUnixNano":"\${NOW}000000000","endTimeUnixNano":"\${NOW}120000000",
    "attributes":[
      {"key":"http.request.method","value":{"stringValue":"GET"}},
      {"key":"http.route","value":{"stringValue":"/hello"}},
      {"key":"http.response.status_code","value":{"intValue":"200"}}
    ]}]}]}]}
EOF`,
      },
    ],
    note: "Paste it into a shell. The strip beside turns green a moment later.",
  };
}
