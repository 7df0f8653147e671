import { afterEach, beforeEach, expect, it } from "vitest";
import { axisTicks } from "./axis";
import { slots } from "./buckets";
import { setTimeZone } from "./time";

const HOUR = 3_600_000;
beforeEach(() => setTimeZone("UTC"));
afterEach(() => setTimeZone(null));
const at = (text: string) => Date.parse(text);
const ticks = (from: string, to: string, intervalMs: number, width: number) => {
  const starts = slots(at(from), at(to), intervalMs);
  return axisTicks(starts, intervalMs, width).map((tick) => [
    new Date(starts[tick.index]).toISOString().slice(11, 16),
    tick.label,
  ]);
};

it("has ticks at round times of one day, without a date", () => {
  expect(ticks("2026-11-22T01:10:00Z", "2026-11-22T07:10:00Z", 5 * 60_000, 600)).toEqual([
    ["02:00", "02:00"],
    ["03:00", "03:00"],
    ["04:00", "04:00"],
    ["05:00", "05:00"],
    ["06:00", "06:00"],
    ["07:00", ""],
  ]);
});

it("includes the day if the range spans midnight", () => {
  expect(ticks("2026-11-21T12:00:00Z", "2026-11-22T12:00:00Z", HOUR / 4, 500).map(([, label]) => label)).toEqual([
    "21 Nov 12:00",
    "18:00",
    "22 Nov",
    "06:00",
  ]);
  expect(ticks("2026-11-01T00:00:00Z", "2026-11-04T00:00:00Z", HOUR, 300).map(([, label]) => label)).toEqual([
    "1 Nov",
    "2 Nov",
    "3 Nov",
  ]);
});

it("counts midnight in the viewer's zone", () => {
  setTimeZone("Asia/Kolkata");
  expect(ticks("2026-11-21T16:00:00Z", "2026-11-21T22:00:00Z", HOUR / 2, 300).map(([, label]) => label)).toEqual([
    "21 Nov 22:00",
    "22 Nov",
    "02:00",
  ]);
});

it("uses whole slots if no round step fits, and has a tick for a single slot", () => {
  const odd = axisTicks(slots(0, 527 * 60_000 * 40, 527 * 60_000), 527 * 60_000, 400);
  expect(odd.length).toBeLessThanOrEqual(5);
  expect(axisTicks([0], HOUR, 400)).toHaveLength(1);
  expect(axisTicks([], HOUR, 400)).toEqual([]);
});
