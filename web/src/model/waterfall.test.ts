import { describe, expect, it } from "vitest";
import { type SpanInput, visibleRows } from "./waterfall";
import { buildTrace } from "./waterfall.fixture";

const span = (
  spanId: string,
  parentSpanId: string,
  startMs: number,
  ms: number,
  more: Partial<SpanInput> = {},
): SpanInput => ({
  spanId,
  parentSpanId,
  name: spanId,
  startTime: `2026-06-01T12:00:00.${String(Math.round(startMs * 1e6)).padStart(9, "0")}Z`,
  duration: ms * 1e6,
  statusCode: 0,
  serviceName: "svc",
  ...more,
});
const ALL = { collapsed: new Set<string>(), query: "", minMs: 0, errorsOnly: false, dim: false };
const names = (trace: ReturnType<typeof buildTrace>, rows: number[]) =>
  rows.map((i) => `${" ".repeat(trace.nodes[i].depth)}${trace.nodes[i].span.spanId}`);

describe("buildTrace", () => {
  // Spec: Span, rule 1: children under their parent in chronological order.
  it("nests children under their parent in order of start, for any input order", () => {
    const trace = buildTrace([
      span("c", "a", 30, 10),
      span("b", "a", 10, 10),
      span("d", "b", 12, 5),
      span("a", "", 0, 100),
    ]);
    expect(names(trace, visibleRows(trace, ALL).rows)).toEqual(["a", " b", "  d", " c"]);
  });

  it("puts spans with a missing parent at the top level and marks them", () => {
    const trace = buildTrace([span("a", "", 0, 10), span("b", "gone", 5, 10)]);
    expect(trace.nodes.map((node) => [node.span.spanId, node.depth, node.missingParent])).toEqual([
      ["a", 0, false],
      ["b", 0, true],
    ]);
  });

  it("opens a parent cycle at its first span and keeps every span", () => {
    const trace = buildTrace([span("a", "b", 0, 10), span("b", "a", 1, 5), span("me", "me", 2, 1)]);
    expect(trace.nodes.map((node) => node.span.spanId).sort()).toEqual(["a", "b", "me"]);
  });

  it("subtracts the union of children from a span's own time", () => {
    const trace = buildTrace([
      span("a", "", 0, 100),
      span("b", "a", 10, 30),
      span("c", "a", 20, 30),
      span("late", "a", 90, 50),
    ]);
    expect(trace.nodes[0].selfMs).toBeCloseTo(50);
  });

  it("distinguishes nanoseconds that a float of epoch milliseconds would merge", () => {
    const trace = buildTrace([
      span("a", "", 0, 1),
      { ...span("b", "a", 0, 1), startTime: "2026-06-01T12:00:00.000000007Z" },
    ]);
    expect(trace.nodes[1].startMs).toBeCloseTo(0.000007, 9);
  });

  it("builds 100,000 spans in one deep chain without overflowing the stack", () => {
    const spans = Array.from({ length: 100_000 }, (_, i) => span(`s${i}`, i ? `s${i - 1}` : "", 0, 1));
    const trace = buildTrace(spans);
    expect(trace.nodes.at(-1)?.depth).toBe(99_999);
    expect(visibleRows(trace, ALL).rows).toHaveLength(100_000);
  });

  it("is empty for an empty trace", () => {
    expect(buildTrace([])).toMatchObject({ nodes: [], totalMs: 0 });
  });
});

describe("visibleRows", () => {
  const trace = buildTrace([
    span("a", "", 0, 100),
    span("b", "a", 1, 40),
    span("c", "b", 2, 2, { statusCode: 2 }),
    span("d", "a", 50, 30, { name: "SELECT books" }),
  ]);
  it.each([
    ["everything", {}, ["a", " b", "  c", " d"]],
    ["a collapsed span hides its subtree", { collapsed: new Set(["b"]) }, ["a", " b", " d"]],
    ["a search keeps the ancestors of what matches", { query: "select" }, ["a", " d"]],
    ["errors only", { errorsOnly: true }, ["a", " b", "  c"]],
    ["a least duration", { minMs: 30 }, ["a", " b", " d"]],
    ["dimming keeps every row", { query: "select", dim: true }, ["a", " b", "  c", " d"]],
  ])("%s", (_name, change, want) => {
    expect(names(trace, visibleRows(trace, { ...ALL, ...change }).rows)).toEqual(want);
  });
});
