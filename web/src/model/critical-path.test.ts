import { expect, it } from "vitest";
import { criticalPath, ownMs } from "./critical-path";
import type { SpanInput } from "./waterfall";
import { buildTrace } from "./waterfall.fixture";

const span = (spanId: string, parentSpanId: string, startMs: number, ms: number): SpanInput => ({
  spanId,
  parentSpanId,
  name: spanId,
  startTime: `2026-06-01T12:00:00.${String(startMs * 1e6).padStart(9, "0")}Z`,
  duration: ms * 1e6,
  statusCode: 0,
  serviceName: "svc",
});
const read = (spans: SpanInput[]) => {
  const trace = buildTrace(spans);
  const path = criticalPath(trace);
  const own = Object.fromEntries([...path.own.keys()].map((i) => [trace.nodes[i].span.spanId, ownMs(path.own, i)]));
  return { path, own, worst: trace.nodes[path.worst]?.span.spanId };
};

it("walks from the last end backwards and counts own time on the path only", () => {
  const { path, own, worst } = read([
    span("a", "", 0, 100),
    span("b", "a", 0, 40),
    // Runs in parallel with b: no span waited for it.
    span("c", "a", 10, 20),
    span("d", "a", 45, 50),
    span("e", "d", 50, 20),
  ]);
  expect(own).toEqual({ a: 10, b: 40, d: 30, e: 20 });
  expect(path.totalMs).toBe(100);
  expect(worst).toBe("b");
});

it("returns the intervals of the path in each span", () => {
  const { path } = read([span("a", "", 0, 100), span("b", "a", 20, 30)]);
  expect(path.own.get(0)).toEqual([
    { from: 50, to: 100 },
    { from: 0, to: 20 },
  ]);
});

it("skips a child that outlives its parent, and time before the parent", () => {
  const { path, own } = read([span("a", "", 10, 50), span("early", "a", 0, 30), span("late", "a", 50, 500)]);
  expect(own).toEqual({ a: 30, early: 20 });
  expect(path.totalMs).toBe(50);
});

it("the sum is the length of the longest root", () => {
  const { path, worst } = read([span("short", "", 0, 5), span("long", "", 2, 40), span("kid", "long", 2, 40)]);
  expect(path.totalMs).toBe(40);
  expect(worst).toBe("kid");
});

it("is empty for an empty trace", () => {
  expect(read([])).toMatchObject({ own: {}, worst: undefined });
});
