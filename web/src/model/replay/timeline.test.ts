import { expect, test } from "vitest";
import { readSegment, type Segment } from "./segment";
import {
  afterStretch,
  bounds,
  buildTimeline,
  clock,
  density,
  idleStretches,
  join,
  lastBefore,
  marks,
  path,
  stepSpeed,
} from "./timeline";

const T = 1_772_355_600_000;
const SESSION = { startMs: T, endMs: T + 90_000 };

/** A segment of ten seconds with a click per second. */
function part(index: number, from: number, more: object = {}): Segment {
  const at = (second: number) => T + from + second * 1000;
  return readSegment({
    segmentIndex: index,
    startedAt: new Date(at(0)).toISOString(),
    endedAt: new Date(at(10)).toISOString(),
    events: [
      { type: 4, data: { href: "https://shop.example/" }, timestamp: at(0) },
      { type: 2, data: {}, timestamp: at(0) },
      ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((second) => ({
        type: 3,
        data: { source: 2, type: 2 },
        timestamp: at(second),
      })),
    ],
    logs: [{ timestamp: at(1), level: "info", message: `in ${index}` }],
    ...more,
  });
}

test("segments in any order, one of them twice, make one timeline", () => {
  const ordered = buildTimeline(SESSION, [part(0, 0), part(1, 10_000), part(2, 20_000)]);
  const mixed = buildTimeline(SESSION, [part(2, 20_000), part(0, 0), part(1, 10_000), part(0, 0)]);
  expect(mixed).toEqual(ordered);
  expect(ordered.logs.map(({ message }) => message)).toEqual(["in 0", "in 1", "in 2"]);
  expect(ordered.clicks).toHaveLength(30);
  expect(ordered.missing).toEqual([]);
  // Each segment repeats the address; the page was loaded once.
  expect(ordered.navigation.map(({ at }) => at - T)).toEqual([0]);
});

test("lines of a part that two segments share count once, equal lines of one segment stay", () => {
  const twice = [
    { timestamp: T + 9500, level: "info", message: "tick" },
    { timestamp: T + 9500, level: "info", message: "tick" },
  ];
  const { logs } = buildTimeline(SESSION, [part(0, 0, { logs: twice }), part(1, 9000, { logs: twice })]);
  expect(logs).toHaveLength(2);
});

test("a number that is missing is a hole, a pause between two numbers is idle time", () => {
  const { missing, idle } = buildTimeline(SESSION, [part(0, 0), part(1, 30_000), part(3, 60_000)]);
  expect(missing).toEqual([{ from: 40_000, to: 60_000 }]);
  expect(idle).toEqual([
    { from: 11_000, to: 30_000 },
    { from: 71_000, to: 90_000 },
  ]);
  // The server has it, but it has not arrived yet.
  const known = [0, 1, 2, 3].map((index) => ({
    index,
    startMs: T + index * 20_000,
    endMs: T + index * 20_000 + 10_000,
  }));
  expect(buildTimeline(SESSION, [part(0, 0), part(3, 60_000)], known).missing).toEqual([]);
});

test("a timeline begins with the first segment and ends with the last, whatever the session says", () => {
  expect(bounds(SESSION, [])).toEqual(SESSION);
  expect(bounds(SESSION, [part(0, -3000), part(1, 95_000)])).toEqual({ startMs: T - 3000, endMs: T + 105_000 });
  expect(bounds({ startMs: Number.NaN, endMs: Number.NaN }, [part(0, 0)])).toEqual({ startMs: T, endMs: T + 10_000 });
  // Still open: no duration yet.
  expect(bounds({ startMs: T, endMs: T }, [])).toEqual({ startMs: T, endMs: T + 1 });
});

test.each([
  ["nothing", [], [{ from: 1000, to: 60_000 }]],
  ["busy", [5000, 14_000, 23_000, 32_000, 41_000, 50_500, 60_000], []],
  ["one pause", [2000, 4000, 30_000, 38_000, 47_000, 55_000], [{ from: 5000, to: 29_000 }]],
  ["in any order", [55_000, 47_000, 38_000, 30_000, 4000, 2000], [{ from: 5000, to: 29_000 }]],
  ["outside", [-5000, 5000, 14_000, 23_000, 32_000, 41_000, 50_500, 99_000], []],
])("idle time: %s", (_name, offsets, expected) => {
  expect(
    idleStretches(
      offsets.map((at) => T + at),
      { startMs: T, endMs: T + 60_000 },
    ),
  ).toEqual(expected);
});

test("playing goes on after the stretch", () => {
  const idle = [
    { from: 10, to: 20 },
    { from: 30, to: 40 },
  ];
  expect([5, 10, 19, 20, 35, 50].map((at) => afterStretch(idle, at))).toEqual([5, 20, 20, 20, 40, 50]);
});

test("stretches join", () => {
  expect(
    join([
      { from: 5, to: 9 },
      { from: 0, to: 3 },
      { from: 8, to: 12 },
    ]),
  ).toEqual([
    { from: 0, to: 3 },
    { from: 5, to: 12 },
  ]);
});

test("the row of a moment is the last one before it", () => {
  const times = [0, 10, 10, 30];
  expect([-1, 0, 9, 10, 29, 30, 99].map((at) => lastBefore(times, at))).toEqual([-1, 0, 0, 2, 2, 3, 3]);
  expect(lastBefore([], 5)).toBe(-1);
});

test("marks: errors, console errors, failed requests, pages", () => {
  const network = (at: number, statusCode?: number, error?: string) => ({
    type: "network",
    timestamp: T + at,
    method: "GET",
    url: "/a",
    statusCode,
    error,
  });
  const timeline = buildTimeline(SESSION, [
    part(0, 0, {
      logs: [
        { timestamp: T + 100, level: "error", message: "broken" },
        { timestamp: T + 50, level: "warn", message: "hm" },
      ],
      actions: [network(200, 200), network(300, 404), network(400, undefined, "failed"), network(500)],
    }),
  ]);
  expect(marks(timeline, [{ at: T + 350, title: "TypeError" }]).map(({ at, kind }) => [at, kind])).toEqual([
    [0, "navigation"],
    [100, "console"],
    [300, "network"],
    [350, "error"],
    [400, "network"],
    [500, "network"],
  ]);
});

test("activity is shown relative to the busiest part", () => {
  expect(density([0, 1, 2, 55, 99, 100], 100, 10)).toEqual([1, 0, 0, 0, 0, 1 / 3, 0, 0, 0, 2 / 3]);
  expect(density([], 100, 3)).toEqual([0, 0, 0]);
});

test("words", () => {
  expect([0, 999, 1000, 83_000, 3_723_000].map(clock)).toEqual(["0:00", "0:00", "0:01", "1:23", "1:02:03"]);
  expect([path("https://a.example/b?c#d"), path("/b"), path("https://a.example")]).toEqual(["/b?c#d", "/b", "/"]);
  expect([stepSpeed(1, 1), stepSpeed(8, 1), stepSpeed(0.5, -1), stepSpeed(4, -1)]).toEqual([2, 8, 0.5, 2]);
});
