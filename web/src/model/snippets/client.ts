// Browsers and mobile apps. Their users can read the token, which permits only sending.
import { grpcEndpoint, type Snippet, type Target } from "./types";

const VISIBLE = "The token is visible to whoever has the app: it can only send data, never read it.";
const ROOTS =
  "Requests arrive as spans of the trace that your backend continues. Spans with no request around them (screens, starts) are kept once Keep unmatched root spans is on in Settings.";

const JS_PACKAGES =
  "@opentelemetry/api@1.10.0 @opentelemetry/sdk-trace@3.1.1 @opentelemetry/resources@3.1.1 @opentelemetry/core@3.1.1 @opentelemetry/exporter-trace-otlp-proto@0.301.1 @opentelemetry/instrumentation@0.301.1 @opentelemetry/instrumentation-fetch@0.300.0";

/** Tracer provider, propagator and context manager of SDK 3, for any runtime with fetch. */
const jsTelemetry = ({ otlp, token }: Target, service: string, imports: string, instrumentations: string) =>
  `import { context, propagation, trace } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { registerInstrumentations } from "@opentelemetry/instrumentation";
${imports}
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, StackContextManager, TracerProvider } from "@opentelemetry/sdk-trace";

const exporter = new OTLPTraceExporter({
  url: "${otlp}/v1/traces",
  headers: { Authorization: "Bearer ${token}" },
});
trace.setGlobalTracerProvider(
  new TracerProvider({
    resource: resourceFromAttributes({ "service.name": "${service}" }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  }),
);
propagation.setGlobalPropagator(new W3CTraceContextPropagator());
context.setGlobalContextManager(new StackContextManager().enable());
registerInstrumentations({
  instrumentations: [
${instrumentations}
  ],
});`;

export function browser(target: Target): Snippet {
  return {
    key: "browser",
    label: "Browser",
    group: "Frontend & mobile",
    signals: ["traces"],
    steps: [
      {
        title: "Install",
        language: "sh",
        code: `npm install ${JS_PACKAGES} @opentelemetry/instrumentation-document-load@0.69.0`,
      },
      {
        title: "telemetry.js, imported before the rest of your app",
        language: "js",
        file: "telemetry.js",
        code: jsTelemetry(
          target,
          "my-web-app",
          `import { DocumentLoadInstrumentation } from "@opentelemetry/instrumentation-document-load";
import { FetchInstrumentation } from "@opentelemetry/instrumentation-fetch";`,
          `    new DocumentLoadInstrumentation(),
    new FetchInstrumentation({
      ignoreUrls: [/\\/v1\\/traces$/],
      // Your API on other origins, which must allow the header traceparent (CORS).
      propagateTraceHeaderCorsUrls: [/^https:\\/\\/api\\.example\\.com\\//],
    }),`,
        ),
      },
    ],
    note: `${VISIBLE} This server takes exports from every origin; a Content-Security-Policy of your page must name it in connect-src. Page loads are the Endpoint documentLoad. ${ROOTS}`,
  };
}

/** The SDK of the native protocol: sessions, recordings and errors. */
export function replay({ otlp, token }: Target): Snippet {
  const report = otlp.replace(/\/otel$/, "/report");
  return {
    key: "replay",
    label: "Browser with replay",
    group: "Frontend & mobile",
    signals: ["sessions", "recordings", "exceptions"],
    steps: [
      { title: "Install", language: "sh", code: "npm install @tracewayapp/frontend@1.0.7" },
      {
        title: "telemetry.js, imported before the rest of your app",
        language: "js",
        file: "telemetry.js",
        code: `import { init, setAttribute } from "@tracewayapp/frontend";

init("${token}@${report}", {
  version: "1.0.0",
  // Without it, only the seconds before an error are recorded.
  recordAllSessions: true,
});

// Once you know who it is. Sessions can be found, and deleted, by it.
setAttribute("userId", "u_42");`,
      },
    ],
    note: `${VISIBLE} Passwords are never recorded; elements with the class rr-block or rr-mask are hidden or masked in the browser (Settings, Session recordings). Requests to your own origin get the header traceway-trace-id, by which the replay finds their traces. Errors of minified code are read with source maps.`,
  };
}

export function reactNative(target: Target): Snippet {
  return {
    key: "react-native",
    label: "React Native",
    group: "Frontend & mobile",
    signals: ["traces"],
    steps: [
      { title: "Install", language: "sh", code: `npm install ${JS_PACKAGES}` },
      {
        title: "telemetry.js, imported first in index.js",
        language: "js",
        file: "telemetry.js",
        code: jsTelemetry(
          target,
          "my-mobile-app",
          `import { FetchInstrumentation } from "@opentelemetry/instrumentation-fetch";`,
          `    new FetchInstrumentation({
      clearTimingResources: false,
      ignoreUrls: [/\\/v1\\/traces$/],
      propagateTraceHeaderCorsUrls: [/.*/],
    }),`,
        ),
      },
    ],
    note: `OpenTelemetry's JavaScript packages do not promise to support React Native; they work there with Metro's package exports (the default since 0.79). Android needs https, or android:usesCleartextTraffic. ${VISIBLE} ${ROOTS}`,
  };
}

export function ios({ otlp, token }: Target): Snippet {
  return {
    key: "ios",
    label: "iOS (Swift)",
    group: "Frontend & mobile",
    signals: ["traces", "logs"],
    steps: [
      {
        title: "In Package.swift (or File, Add Package Dependencies in Xcode)",
        language: "swift",
        code: `dependencies: [
  .package(url: "https://github.com/open-telemetry/opentelemetry-swift", from: "2.2.0"),
  .package(url: "https://github.com/open-telemetry/opentelemetry-swift-core", from: "2.2.0"),
],
targets: [
  .target(name: "MyApp", dependencies: [
    .product(name: "OpenTelemetryApi", package: "opentelemetry-swift-core"),
    .product(name: "OpenTelemetrySdk", package: "opentelemetry-swift-core"),
    .product(name: "OpenTelemetryProtocolExporterHTTP", package: "opentelemetry-swift"),
    .product(name: "ResourceExtension", package: "opentelemetry-swift"),
    .product(name: "URLSessionInstrumentation", package: "opentelemetry-swift"),
  ]),
]`,
      },
      {
        title: "Telemetry.swift; call Telemetry.start() when the app launches",
        language: "swift",
        file: "Telemetry.swift",
        code: `import Foundation
import OpenTelemetryApi
import OpenTelemetryProtocolExporterCommon
import OpenTelemetryProtocolExporterHttp
import OpenTelemetrySdk
import ResourceExtension
import URLSessionInstrumentation

enum Telemetry {
  private static var requests: URLSessionInstrumentation?

  static func start() {
    let base = "${otlp}"
    let config = OtlpConfiguration(compression: .gzip, headers: [("Authorization", "Bearer ${token}")])
    let resource = DefaultResources().get().merging(
      other: Resource(attributes: ["service.name": .string("my-ios-app")]))

    let spans = OtlpHttpTraceExporter(endpoint: URL(string: base + "/v1/traces")!, config: config)
    OpenTelemetry.registerTracerProvider(
      tracerProvider: TracerProviderBuilder()
        .with(resource: resource)
        .add(spanProcessor: BatchSpanProcessor(spanExporter: spans))
        .build())

    let records = OtlpHttpLogExporter(endpoint: URL(string: base + "/v1/logs")!, config: config)
    OpenTelemetry.registerLoggerProvider(
      loggerProvider: LoggerProviderBuilder()
        .with(resource: resource)
        .with(processors: [BatchLogRecordProcessor(logRecordExporter: records)])
        .build())

    // A span for each request of URLSession, with traceparent; not for the exports themselves.
    requests = URLSessionInstrumentation(
      configuration: URLSessionInstrumentationConfiguration(
        shouldInstrument: { $0.url?.absoluteString.hasPrefix(base) != true }))
  }
}`,
      },
    ],
    note: `App Transport Security wants https. ${VISIBLE} ${ROOTS}`,
  };
}

export function android({ otlp, token }: Target): Snippet {
  return {
    key: "android",
    label: "Android (Kotlin)",
    group: "Frontend & mobile",
    signals: ["traces", "logs"],
    steps: [
      {
        title: "In app/build.gradle.kts",
        language: "kotlin",
        code: `dependencies {
    implementation(platform("io.opentelemetry.android:opentelemetry-android-bom:1.6.0"))
    implementation("io.opentelemetry.android:android-agent")
}`,
      },
      {
        title: "MyApplication.kt, named in AndroidManifest.xml (android:name, and the permission INTERNET)",
        language: "kotlin",
        file: "MyApplication.kt",
        code: `import android.app.Application
import io.opentelemetry.android.OpenTelemetryRum
import io.opentelemetry.android.agent.OpenTelemetryRumInitializer

class MyApplication : Application() {
    lateinit var telemetry: OpenTelemetryRum

    override fun onCreate() {
        super.onCreate()
        telemetry = OpenTelemetryRumInitializer.initialize(
            context = this,
            configuration = {
                httpExport {
                    baseUrl = "${otlp}"
                    baseHeaders = mapOf("Authorization" to "Bearer ${token}")
                }
            },
        )
    }
}`,
      },
    ],
    note: `The service is named after the app. The agent speaks http/protobuf; it reports crashes, ANRs, screens and slow frames. From the emulator your machine is 10.0.2.2, and http needs android:usesCleartextTraffic. ${VISIBLE} ${ROOTS}`,
  };
}

const flutterHttp = ({ otlp, token }: Target) => `OtlpHttpSpanExporter(
    OtlpHttpExporterConfig(
      endpoint: '${otlp}/v1/traces',
      headers: {'Authorization': 'Bearer ${token}'},
      compression: true,
    ),
  )`;

const flutterGrpc = ({ otlp, token }: Target) => `OtlpGrpcSpanExporter(
    OtlpGrpcExporterConfig(
      endpoint: '${grpcEndpoint(otlp)}',
      insecure: ${otlp.startsWith("http:")},
      headers: {'authorization': 'Bearer ${token}'},
      compression: true,
    ),
  )`;

export function flutter(target: Target): Snippet {
  const isGrpc = target.protocol === "grpc";
  return {
    key: "flutter",
    label: "Flutter (Dart)",
    group: "Frontend & mobile",
    offersGrpc: true,
    signals: ["traces"],
    steps: [
      { title: "Install", language: "sh", code: "flutter pub add dartastic_opentelemetry otel_http http" },
      {
        title: "lib/telemetry.dart; await startTelemetry() in main, before runApp",
        language: "dart",
        file: "lib/telemetry.dart",
        code: `import 'package:dartastic_opentelemetry/dartastic_opentelemetry.dart';
import 'package:http/http.dart' as http;
import 'package:otel_http/otel_http.dart';

/// Sends a span for each request, with the header traceparent. Use it for the requests of your app.
late final http.Client client;

Future<void> startTelemetry() async {
  final exporter = ${isGrpc ? flutterGrpc(target) : flutterHttp(target)};
  await OTel.initialize(
    serviceName: 'my-flutter-app',
    spanProcessor: BatchSpanProcessor(exporter),
    enableMetrics: false,
  );
  client = OTelHttpClient(http.Client());
}`,
      },
    ],
    note: `${isGrpc ? "" : "The exporter speaks http/protobuf; without one, this SDK would speak gRPC. "}OTel.shutdown() sends what is still queued. ${VISIBLE} ${ROOTS}`,
  };
}
