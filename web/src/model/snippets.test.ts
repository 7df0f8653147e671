import { expect, it } from "vitest";
import { publicAddress } from "./public-address";
import { GROUPS, grpcEndpoint, snippets } from "./snippets";
import { testTrace } from "./test-trace";

it("fills address and token into every snippet", () => {
  const all = snippets("https://tide.example/api/otel", "abc123");
  for (const snippet of all) {
    const code = snippet.steps.map((step) => step.code).join("\n");
    // nginx speaks gRPC only; recordings have a route of their own.
    const addresses: Record<string, string> = {
      nginx: "https://tide.example:443",
      replay: "https://tide.example/api/report",
    };
    expect(code, snippet.key).toContain(addresses[snippet.key] ?? "https://tide.example/api/otel");
    expect(code, snippet.key).toContain("abc123");
  }
  expect(all.map((one) => one.key)).toEqual([
    ...["node", "python", "go", "java", "dotnet", "php", "ruby", "rust", "elixir"],
    ...["browser", "replay", "ios", "android", "flutter", "react-native"],
    ...["edge", "cloudflare", "nginx", "collector", "curl"],
  ]);
  // The page shows one group after another.
  const groups = all.map((one) => GROUPS.indexOf(one.group));
  expect(groups).toEqual(groups.toSorted((a, b) => a - b));
});

it("sets http/protobuf wherever an SDK reads the environment, and TLS where the address requires it", () => {
  for (const { key, steps } of snippets("http://x/api/otel", "t")) {
    for (const { code } of steps.filter((step) => step.code.includes("OTEL_EXPORTER_OTLP_ENDPOINT"))) {
      expect(code, key).toContain("OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf");
    }
  }
  const rust = (otlp: string) => JSON.stringify(snippets(otlp, "t").find((one) => one.key === "rust"));
  expect(rust("https://x/api/otel")).toContain("reqwest-rustls");
  expect(rust("http://x/api/otel")).not.toContain("reqwest-rustls");
});

it("writes OTLP/gRPC where an SDK speaks it: an endpoint with a port and no path, and lower-case metadata", () => {
  const all = snippets("https://tide.example/api/otel", "abc123", 3000, "grpc");
  const offered = all.filter((one) => one.offersGrpc);
  expect(offered.map((one) => one.key)).toEqual(["node", "python", "go", "java", "dotnet", "flutter", "collector"]);
  for (const { key, steps } of offered) {
    const code = steps.map((step) => step.code).join("\n");
    expect(code, key).toContain("tide.example:443");
    expect(code, key).not.toContain("/api/otel");
    expect(code, key).not.toMatch(/http\/protobuf|exporter-otlp-proto-http|otlp(trace|metric|log)http/);
    expect(code, key).toMatch(/authorization.*Bearer(%20| )abc123/);
  }
  const http = snippets("https://tide.example/api/otel", "abc123");
  const others = all.filter((one) => !one.offersGrpc);
  expect(others).toEqual(http.filter((one) => !one.offersGrpc));
});

it.each([
  ["http://tide.lan:8080/api/otel", "http://tide.lan:8080"],
  ["http://tide.lan/api/otel", "http://tide.lan:80"],
  ["https://[2001:db8::1]/api/otel", "https://[2001:db8::1]:443"],
])("the gRPC endpoint of %s is %s", (otlp, want) => expect(grpcEndpoint(otlp)).toBe(want));

it("curl sends a JSON document after shell expansion", () => {
  const code = snippets("https://x/api/otel", "t").at(-1)!.steps[0].code;
  const json = code.slice(code.indexOf('{"resourceSpans'), code.lastIndexOf("\nEOF"));
  const filled = json
    .replace("$TRACE", "0af7651916cd43dd8448eb211c80319c")
    .replace("$SPAN", "b7ad6b7169203331")
    .replaceAll(/\$\{NOW\}/g, "1780315500");
  const span = JSON.parse(filled).resourceSpans[0].scopeSpans[0].spans[0];
  expect([span.startTimeUnixNano, span.endTimeUnixNano]).toEqual(["1780315500000000000", "1780315500120000000"]);
});

it("builds a test trace of one request with two children", () => {
  const { traceId, body } = testTrace(1_780_315_500_000);
  const { spans } = (
    body as {
      resourceSpans: {
        scopeSpans: { spans: { traceId: string; parentSpanId: string; endTimeUnixNano: string }[] }[];
      }[];
    }
  ).resourceSpans[0].scopeSpans[0];
  expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(spans.map((span) => !!span.parentSpanId)).toEqual([false, true, true]);
  expect(spans[0].endTimeUnixNano).toBe("1780315500000000000");
});

it.each([
  ["https://tide.example/", "http://127.0.0.1:8080", "https://tide.example"],
  ["http://127.0.0.1:8080", "http://tide.lan:8080", "http://tide.lan:8080"],
  ["http://[::1]:8080", "https://tide.lan", "https://tide.lan"],
  ["", "http://localhost:5173", "http://localhost:5173"],
])("server says %s, browser is at %s", (backendUrl, origin, want) =>
  expect(publicAddress(backendUrl, origin)).toBe(want),
);
