// How to send telemetry, per language, with the address and the token filled in.

export interface Step {
  title: string;
  code: string;
  /** "sh", "js", … for the reader; nothing is executed. */
  language: string;
}
export interface Snippet {
  key: string;
  label: string;
  steps: Step[];
  note?: string;
}

/**
 * Where exporters should send: the server's own idea, unless it only knows a loopback address; then what this browser
 * used to get here is the better guess.
 */
export function publicAddress(backendUrl: string, origin: string): string {
  const loopback = /^https?:\/\/(localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\])(:\d+)?\/?$/i;
  return (backendUrl && !loopback.test(backendUrl) ? backendUrl : origin).replace(/\/+$/, "");
}

/** `otlp` is the base address without `/v1/…`, e.g. https://tide.example.com/api/otel. */
export function snippets(otlp: string, token: string): Snippet[] {
  const env = environment(otlp, token);
  return [
    {
      key: "node",
      label: "Node.js",
      steps: [
        {
          title: "Install",
          language: "sh",
          code: "npm install @opentelemetry/api @opentelemetry/auto-instrumentations-node",
        },
        {
          title: "Run with these settings",
          language: "sh",
          code: `${env}\nexport NODE_OPTIONS="--require @opentelemetry/auto-instrumentations-node/register"\nnode app.js`,
        },
      ],
      note: "Express, Fastify, Koa, Hono, NestJS, Next.js, queues and database clients are traced without code changes.",
    },
    {
      key: "python",
      label: "Python",
      steps: [
        {
          title: "Install",
          language: "sh",
          code: "pip install opentelemetry-distro opentelemetry-exporter-otlp-proto-http\nopentelemetry-bootstrap -a install",
        },
        { title: "Run with these settings", language: "sh", code: `${env}\nopentelemetry-instrument python app.py` },
      ],
      note: "Works for Django, Flask, FastAPI, Celery and more. Behind gunicorn or uvicorn put opentelemetry-instrument in front of the command.",
    },
    {
      key: "go",
      label: "Go",
      steps: [
        {
          title: "Install",
          language: "sh",
          code: "go get go.opentelemetry.io/otel/sdk go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp",
        },
        {
          title: "Start tracing in main",
          language: "go",
          code: `exporter, err := otlptracehttp.New(ctx) // reads the OTEL_ variables\nif err != nil {\n\tlog.Fatal(err)\n}\nprovider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter))\ndefer provider.Shutdown(ctx)\notel.SetTracerProvider(provider)\notel.SetTextMapPropagator(propagation.TraceContext{})\n\nhttp.ListenAndServe(":8080", otelhttp.NewHandler(mux, "server"))`,
        },
        { title: "Run with these settings", language: "sh", code: `${env}\ngo run .` },
      ],
    },
    {
      key: "java",
      label: "Java",
      steps: [
        {
          title: "Get the agent",
          language: "sh",
          code: "curl -LO https://github.com/open-telemetry/opentelemetry-java-instrumentation/releases/latest/download/opentelemetry-javaagent.jar",
        },
        {
          title: "Run with these settings",
          language: "sh",
          code: `${env}\njava -javaagent:opentelemetry-javaagent.jar -jar app.jar`,
        },
      ],
      note: "Spring, Quarkus, Kafka, JDBC and most of the rest need no code changes.",
    },
    {
      key: "dotnet",
      label: ".NET",
      steps: [
        {
          title: "Install",
          language: "sh",
          code: "dotnet add package OpenTelemetry.Extensions.Hosting\ndotnet add package OpenTelemetry.Exporter.OpenTelemetryProtocol\ndotnet add package OpenTelemetry.Instrumentation.AspNetCore\ndotnet add package OpenTelemetry.Instrumentation.Http",
        },
        {
          title: "In Program.cs",
          language: "csharp",
          code: "builder.Services.AddOpenTelemetry()\n    .WithTracing(tracing => tracing\n        .AddAspNetCoreInstrumentation(options => options.RecordException = true)\n        .AddHttpClientInstrumentation()\n        .AddOtlpExporter())\n    .WithMetrics(metrics => metrics\n        .AddAspNetCoreInstrumentation()\n        .AddOtlpExporter());",
        },
        { title: "Run with these settings", language: "sh", code: `${env}\ndotnet run` },
      ],
    },
    {
      key: "php",
      label: "PHP",
      steps: [
        {
          title: "Install",
          language: "sh",
          code: "pecl install opentelemetry\ncomposer require open-telemetry/sdk open-telemetry/exporter-otlp php-http/guzzle7-adapter",
        },
        {
          title: "Add the instrumentation of your framework",
          language: "sh",
          code: "composer require open-telemetry/opentelemetry-auto-symfony   # or -laravel, -slim, -psr15",
        },
        { title: "Run with these settings", language: "sh", code: `export OTEL_PHP_AUTOLOAD_ENABLED=true\n${env}` },
      ],
      note: "Console commands become tasks.",
    },
    {
      key: "ruby",
      label: "Ruby",
      steps: [
        {
          title: "Install",
          language: "sh",
          code: "bundle add opentelemetry-sdk opentelemetry-exporter-otlp opentelemetry-instrumentation-all",
        },
        {
          title: "config/initializers/opentelemetry.rb",
          language: "ruby",
          code: 'require "opentelemetry/sdk"\nrequire "opentelemetry/instrumentation/all"\n\nOpenTelemetry::SDK.configure { |config| config.use_all }',
        },
        { title: "Run with these settings", language: "sh", code: `${env}\nbin/rails server` },
      ],
    },
    {
      key: "rust",
      label: "Rust",
      steps: [
        {
          title: "Install",
          language: "sh",
          code: "cargo add opentelemetry opentelemetry_sdk tracing-opentelemetry\ncargo add opentelemetry-otlp --features http-proto,reqwest-blocking-client",
        },
        {
          title: "Start tracing in main",
          language: "rust",
          code: 'let exporter = opentelemetry_otlp::SpanExporter::builder().with_http().build()?; // reads the OTEL_ variables\nlet provider = opentelemetry_sdk::trace::SdkTracerProvider::builder()\n    .with_batch_exporter(exporter)\n    .build();\nlet tracer = provider.tracer("app");\ntracing_subscriber::registry()\n    .with(tracing_opentelemetry::layer().with_tracer(tracer))\n    .init();',
        },
        { title: "Run with these settings", language: "sh", code: `${env}\ncargo run` },
      ],
      note: 'Give request spans otel.kind = "server", http.request.method and http.route so that they become endpoints.',
    },
    {
      key: "browser",
      label: "Browser",
      steps: [
        {
          title: "Install",
          language: "sh",
          code: "npm install @opentelemetry/sdk-trace-web @opentelemetry/exporter-trace-otlp-http @opentelemetry/instrumentation-fetch @opentelemetry/instrumentation",
        },
        {
          title: "Early in your app",
          language: "js",
          code: `import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";\nimport { registerInstrumentations } from "@opentelemetry/instrumentation";\nimport { FetchInstrumentation } from "@opentelemetry/instrumentation-fetch";\nimport { BatchSpanProcessor, WebTracerProvider } from "@opentelemetry/sdk-trace-web";\n\nconst exporter = new OTLPTraceExporter({\n  url: "${otlp}/v1/traces",\n  headers: { Authorization: "Bearer ${token}" },\n});\nnew WebTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] }).register();\nregisterInstrumentations({ instrumentations: [new FetchInstrumentation()] });`,
        },
      ],
      note: "The token is visible to visitors: it can only send data, never read it.",
    },
    {
      key: "collector",
      label: "OTel Collector",
      steps: [
        {
          title: "In the Collector's configuration",
          language: "yaml",
          code: `exporters:\n  otlphttp/tidewatch:\n    endpoint: ${otlp}\n    headers:\n      Authorization: "Bearer ${token}"\n    compression: gzip\n\nservice:\n  pipelines:\n    traces:  { receivers: [otlp], processors: [batch], exporters: [otlphttp/tidewatch] }\n    metrics: { receivers: [otlp], processors: [batch], exporters: [otlphttp/tidewatch] }\n    logs:    { receivers: [otlp], processors: [batch], exporters: [otlphttp/tidewatch] }`,
        },
      ],
      note: "Keep batches under 10 MB: send_batch_max_size: 5000 in the batch processor is a good start.",
    },
    {
      key: "curl",
      label: "curl",
      steps: [{ title: "One request, no SDK: your first span", language: "sh", code: curl(otlp, token) }],
      note: "Paste it into a shell. The strip beside turns green a moment later.",
    },
  ];
}

export function environment(otlp: string, token: string): string {
  return [
    "export OTEL_SERVICE_NAME=my-service",
    `export OTEL_EXPORTER_OTLP_ENDPOINT=${otlp}`,
    `export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20${token}"`,
    "export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf",
  ].join("\n");
}

function curl(otlp: string, token: string): string {
  return `NOW=$(date +%s)
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
EOF`;
}
