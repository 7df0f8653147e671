import { describe, expect, it } from "vitest";
import { layOutServices, runningAt, sortedSpans, traceFlame } from "./trace-parts";
import { buildTrace } from "./waterfall.fixture";

const span = (spanId: string, parentSpanId: string, startMs: number, ms: number, name: string, serviceName = "a") => ({
  spanId,
  parentSpanId,
  name,
  startTime: `2026-06-01T12:00:00.${String(startMs).padStart(3, "0")}Z`,
  duration: ms * 1e6,
  statusCode: 0,
  serviceName,
});
const trace = buildTrace([
  span("1", "", 0, 100, "root"),
  span("2", "1", 0, 10, "query", "db"),
  span("3", "1", 10, 30, "query", "db"),
  span("4", "3", 15, 5, "disk", "db"),
  span("5", "1", 50, 20, "render"),
]);

describe("traceFlame", () => {
  it("merges spans of one name below the same ones; totals are sums of own time", () => {
    const { tree, counts, longest, services } = traceFlame(trace);
    const rows = tree.name.map((name, i) => `${"  ".repeat(tree.level[i])}${tree.names[name]} ${tree.total[i]}`);
    expect(rows).toEqual([
      "all spans 100",
      "  root · a 100",
      "    query · db 40",
      "      disk · db 5",
      "    render · a 20",
    ]);
    expect(counts).toEqual([0, 1, 2, 1, 1]);
    expect(trace.nodes[longest[2]].span.spanId).toBe("3");
    expect([...tree.parent]).toEqual([-1, 0, 1, 2, 1]);
    expect([...tree.end]).toEqual([5, 5, 4, 4, 5]);
    expect(services[tree.name[2]]).toBe("db");
  });
});

describe("sortedSpans", () => {
  const ids = (by: Parameters<typeof sortedSpans>[1]["by"], desc: boolean, text?: string) =>
    sortedSpans(trace, { by, desc }, text).map((i) => trace.nodes[i].span.spanId);

  it("sorts by own time, duration, start and names", () => {
    expect(ids("own", true)).toEqual(["1", "3", "5", "2", "4"]);
    expect(ids("duration", true)).toEqual(["1", "3", "5", "2", "4"]);
    expect(ids("start", false)).toEqual(["1", "2", "3", "4", "5"]);
    expect(ids("name", false)).toEqual(["4", "2", "3", "5", "1"]);
    expect(ids("service", true, "QUERY")).toEqual(["2", "3"]);
  });
});

describe("layOutServices", () => {
  it("puts callers before called services, also in circles", () => {
    const calls = [
      { from: "web", to: "cart" },
      { from: "web", to: "pay" },
      { from: "pay", to: "db" },
      { from: "cart", to: "pay" },
    ];
    const at = layOutServices(["web", "cart", "pay", "db"], calls).map((one) => [one.name, one.column, one.row]);
    expect(at).toEqual([
      ["web", 0, 0],
      ["cart", 1, 0],
      ["pay", 1, 1],
      ["db", 2, 0],
    ]);
    const circle = layOutServices(
      ["a", "b"],
      [
        { from: "a", to: "b" },
        { from: "b", to: "a" },
      ],
    );
    expect(circle.map((one) => one.column)).toEqual([0, 1]);
  });
});

describe("runningAt", () => {
  it("finds the deepest span that runs", () => {
    const at = (ms: number) => trace.nodes[runningAt(trace, ms)]?.span.spanId;
    expect([at(-1), at(5), at(17), at(45), at(60), at(101)]).toEqual([undefined, "2", "4", "1", "5", undefined]);
  });
});
