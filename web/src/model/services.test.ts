import { expect, test } from "vitest";
import { hintFor, languageWords, listed, missingSignals, sdkWords } from "./services";
import type { ServiceSeen } from "./types";

const nothing = { count: 0, lastHour: 0, lastSeen: null };
const some = { count: 3, lastHour: 0, lastSeen: "2026-01-01T00:00:00Z" };
function service(name: string, language: string | null, has: Partial<ServiceSeen>): ServiceSeen {
  return {
    name,
    language,
    sdkName: null,
    sdkVersion: null,
    version: null,
    lastSeen: "2026-01-01T00:00:00Z",
    traces: nothing,
    metrics: nothing,
    logs: nothing,
    ...has,
  };
}

test("display names of languages and SDKs", () => {
  expect(["nodejs", "webjs", "zig", "", null].map(languageWords)).toEqual(["Node.js", "Browser", "zig", "", ""]);
  expect(sdkWords({ sdkName: "opentelemetry", sdkVersion: "1.2" })).toBe("opentelemetry 1.2");
  expect(sdkWords({ sdkName: null, sdkVersion: null })).toBe("");
});

test("a hint is specific to the language where a variable does not suffice", () => {
  expect(hintFor("metrics", "nodejs").code).toBe("OTEL_METRICS_EXPORTER=otlp");
  expect(hintFor("logs", "python").code).toContain("OTEL_PYTHON_LOGGING_AUTO_INSTRUMENTATION_ENABLED=true");
  expect(hintFor("metrics", "go")).toEqual({ words: expect.stringContaining("otlpmetrichttp") });
  expect(hintFor("traces", null).code).toBe("OTEL_TRACES_EXPORTER=otlp");
});

test("missing signals with the same hint are listed once for all services", () => {
  const services = [
    service("web", "nodejs", { traces: some, logs: some }),
    service("api", "java", { traces: some, logs: some }),
    service("worker", "go", { traces: some, logs: some }),
    service("db", null, { metrics: some, logs: some }),
    service("", null, { logs: some }),
  ];
  const found = missingSignals(services).map(({ signal, services }) => [signal, services]);
  expect(found).toEqual([
    ["traces", ["db"]],
    ["metrics", ["web", "api"]],
    ["metrics", ["worker"]],
  ]);
});

test("lists of names", () => {
  expect(listed(["a"])).toBe("a");
  expect(listed(["a", "b", "c"])).toBe("a, b and c");
  expect(listed(["a", "b", "c", "d", "e", "f"])).toBe("a, b, c, d and 2 more");
  expect(listed([])).toBe("");
});
