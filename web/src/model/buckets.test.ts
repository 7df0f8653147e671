import { expect, it } from "vitest";
import { align, durationTicks, hasValues, niceTicks, slots } from "./buckets";

it("leaves a gap where nothing was measured", () => {
  const starts = slots(60_000, 300_000, 60_000);
  expect(starts).toEqual([60_000, 120_000, 180_000, 240_000]);
  expect(
    align(
      starts,
      [
        { ms: 60_000, value: 1 },
        { ms: 240_000, value: 0 },
      ],
      60_000,
    ),
  ).toEqual([1, null, null, 0]);
});

it("adds up points of one slot and ignores points outside", () => {
  expect(
    align(
      [0, 10],
      [
        { ms: 1, value: 2 },
        { ms: 9, value: 3 },
        { ms: 30, value: 9 },
      ],
      10,
    ),
  ).toEqual([5, null]);
});

it.each([
  [0, [0]],
  [7, [0, 2.5, 5, 7.5]],
  [40, [0, 20, 40]],
])("ticks for %s", (max, want) => expect(niceTicks(max)).toEqual(want));

it("ticks long durations at whole minutes", () => {
  expect(durationTicks(100_000)).toEqual([0, 60_000, 120_000]);
});

it("distinguishes a measured zero from no measurement", () => {
  expect(hasValues([{ values: [null, null] }, { values: [] }])).toBe(false);
  expect(hasValues([{ values: [null, 0] }])).toBe(true);
});
