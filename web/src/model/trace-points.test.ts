import { expect, test } from "vitest";
import { durationRound } from "./format";
import {
  countIn,
  durationTicks,
  moved,
  nearest,
  type Points,
  planeOf,
  sampleWords,
  selected,
  xOf,
  yOf,
} from "./trace-points";

const span = { fromMs: 1_000_000, toMs: 2_000_000 };
const points: Points = {
  traceIds: ["a", "b", "c"],
  starts: [1_000_000, 1_500_000, 1_999_999],
  durations: [2, 150, 90_000],
  errors: [false, true, false],
  sampleRate: 1,
};
const plane = planeOf(points, span);

test("axes are whole powers of ten around the durations, with round ticks", () => {
  expect([plane.least, plane.most]).toEqual([1, 100_000]);
  expect(durationTicks(plane)).toEqual([1, 10, 100, 1000, 10_000, 60_000]);
  const long = planeOf({ ...points, durations: [2, 150, 300_000_000] }, span);
  expect(durationTicks(long).slice(4).map(durationRound)).toEqual(["10 s", "1 min", "10 min", "1 h", "10 h", "2 d"]);
  const one = planeOf({ ...points, starts: [0], durations: [10] }, span);
  expect([one.least, one.most]).toEqual([10, 100]);
  const none = planeOf({ traceIds: [], starts: [], durations: [], errors: [], sampleRate: 1 }, span);
  expect([none.least, none.most]).toEqual([1, 1000]);
  expect(planeOf({ ...points, durations: [0, 0, 0] }, span).least).toBe(0.001);
});

test("places are fractions of the plot", () => {
  expect(xOf(plane, 1_500_000)).toBe(0.5);
  expect([yOf(plane, 0), yOf(plane, 1), yOf(plane, 100_000), yOf(plane, 1e9)]).toEqual([0, 0, 1, 1]);
  expect(yOf(plane, 10)).toBeCloseTo(0.2);
});

test("a box selects starts and durations; edges of the plane are open", () => {
  const box = { x0: 0.75, x1: 0.25, y0: 0.2, y1: 0.6 };
  const part = selected(plane, { ...box, y0: 0.2 });
  expect(part.span).toEqual({ fromMs: 1_250_000, toMs: 1_750_000 });
  expect([part.min, part.max]).toEqual([10, 1000]);
  expect(countIn(points, part)).toBe(1);
  const whole = selected(plane, { x0: 0, x1: 1, y0: 0, y1: 1 });
  expect([whole.min, whole.max]).toEqual([0, Number.POSITIVE_INFINITY]);
  expect(countIn(points, whole)).toBe(3);
});

test("the nearest point within reach is found", () => {
  const size = { width: 1000, height: 100 };
  expect(nearest(points, plane, { x: 503, y: 58 }, size)).toBe(1);
  expect(nearest(points, plane, { x: 300, y: 50 }, size)).toBe(-1);
});

test("the keyboard moves a box, or its corner", () => {
  const box = { x0: 0.4, x1: 0.5, y0: 0.4, y1: 0.5 };
  const aside = moved(box, 0.1, 0, false);
  expect([aside.x0, aside.x1]).toEqual([expect.closeTo(0.5), expect.closeTo(0.6)]);
  expect(moved(box, 0.1, 0.9, true)).toMatchObject({ x0: 0.4, x1: 0.6, y0: 0.4, y1: 1 });
});

test("the points of a sample say so", () => {
  expect(sampleWords({ sampleRate: 1 })).toBe("");
  expect(sampleWords({ sampleRate: 0.0833 })).toContain("about 1 in 12 traces");
  expect(sampleWords({ sampleRate: 0.72 })).toContain("about 7 in 10 traces");
  expect(sampleWords({ sampleRate: null })).toContain("the latest traces");
});
