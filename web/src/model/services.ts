// Services that send telemetry, their missing signals, and the settings that enable them.
import type { ServiceSeen } from "./types";

export const SIGNALS = ["traces", "metrics", "logs"] as const;
export type Signal = (typeof SIGNALS)[number];

export const SIGNAL_WORDS: Record<Signal, { one: string; many: string }> = {
  traces: { one: "span", many: "traces" },
  metrics: { one: "metric point", many: "metrics" },
  logs: { one: "log record", many: "logs" },
};

const LANGUAGES: Record<string, string> = {
  cpp: "C++",
  dotnet: ".NET",
  erlang: "Erlang",
  go: "Go",
  java: "Java",
  nodejs: "Node.js",
  php: "PHP",
  python: "Python",
  ruby: "Ruby",
  rust: "Rust",
  swift: "Swift",
  webjs: "Browser",
};

/** Display name of `telemetry.sdk.language`, such as "Node.js". Unknown values are returned unchanged. */
export function languageWords(language: string | null | undefined): string {
  return language ? (LANGUAGES[language] ?? language) : "";
}

/** "opentelemetry 1.30.1"; missing parts are omitted. */
export function sdkWords({ sdkName, sdkVersion }: Pick<ServiceSeen, "sdkName" | "sdkVersion">): string {
  return [sdkName, sdkVersion].filter(Boolean).join(" ");
}

/** A setting, or an instruction if no setting suffices. */
export interface Hint {
  words: string;
  code?: string;
}

const VARIABLES: Record<Signal, string> = {
  traces: "OTEL_TRACES_EXPORTER=otlp",
  metrics: "OTEL_METRICS_EXPORTER=otlp",
  logs: "OTEL_LOGS_EXPORTER=otlp",
};

/** Languages for which the environment variable does not suffice or is not read. */
const LANGUAGE_HINTS: Partial<Record<string, Partial<Record<Signal, Hint>>>> = {
  python: {
    logs: {
      words: "Set both, and restart:",
      code: "OTEL_LOGS_EXPORTER=otlp\nOTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED=true",
    },
  },
  nodejs: {
    logs: {
      words: "Records of winston, pino and bunyan are sent; set this, and restart:",
      code: VARIABLES.logs,
    },
  },
  dotnet: {
    metrics: {
      words: "In Program.cs: .WithMetrics(metrics => metrics.AddAspNetCoreInstrumentation().AddOtlpExporter())",
    },
    logs: { words: "In Program.cs: builder.Logging.AddOpenTelemetry(logging => logging.AddOtlpExporter())" },
  },
  go: {
    metrics: { words: "Register a MeterProvider with the otlpmetrichttp exporter." },
    logs: { words: "Register a LoggerProvider with the otlploghttp exporter, and a bridge such as otelslog." },
  },
  rust: {
    metrics: { words: "Build a MeterProvider with opentelemetry_otlp::MetricExporter." },
    logs: { words: "Add opentelemetry-appender-tracing with opentelemetry_otlp::LogExporter." },
  },
  webjs: {
    metrics: { words: "Browsers send none by themselves; @opentelemetry/sdk-metrics adds them." },
    logs: { words: "Browsers send none by themselves; @opentelemetry/sdk-logs adds them." },
  },
  ruby: {
    metrics: { words: "Add the gems opentelemetry-metrics-sdk and opentelemetry-exporter-otlp-metrics." },
    logs: { words: "Add the gems opentelemetry-logs-sdk and opentelemetry-exporter-otlp-logs." },
  },
};

/** Instructions to enable the signal in a service of this language. */
export function hintFor(signal: Signal, language: string | null | undefined): Hint {
  return (
    LANGUAGE_HINTS[language ?? ""]?.[signal] ?? {
      words: "Set this where the service runs, and restart it:",
      code: VARIABLES[signal],
    }
  );
}

/** Named services that never sent the signal and need the same hint. */
export interface Missing {
  signal: Signal;
  services: string[];
  hint: Hint;
}

export function missingSignals(services: ServiceSeen[]): Missing[] {
  const found: Missing[] = [];
  for (const signal of SIGNALS)
    for (const service of services) {
      if (!service.name || service[signal].count > 0) continue;
      const hint = hintFor(signal, service.language);
      const same = found.find(
        (one) => one.signal === signal && one.hint.words === hint.words && one.hint.code === hint.code,
      );
      if (same) same.services.push(service.name);
      else found.push({ signal, services: [service.name], hint });
    }
  return found;
}

/** "checkout, cart and 3 more" */
export function listed(names: string[], most = 4): string {
  const shown = names.slice(0, most);
  const more = names.length - shown.length;
  if (more > 0) return `${shown.join(", ")} and ${more} more`;
  return shown.length > 1 ? `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}` : (shown[0] ?? "");
}
