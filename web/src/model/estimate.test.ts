import { expect, test } from "vitest";
import { estimateWords, isEstimated } from "./estimate";

const of = (count: number, storedCount: number) => ({ count, storedCount });

test("a count that equals its rows is exact", () => {
  expect(isEstimated(of(3, 3))).toBe(false);
  expect(estimateWords([of(3, 3), of(0, 0)])).toBeNull();
  expect(estimateWords([])).toBeNull();
});

test("the rate is said as one in a number", () => {
  expect(estimateWords([of(30, 3)])).toBe("Estimated from 1 in 10");
  expect(estimateWords([of(25, 10)])).toBe("Estimated from 1 in 2.5");
  expect(estimateWords([of(12_500_000, 10_000)])).toBe("Estimated from 1 in 1,250");
  expect(estimateWords([of(100, 90)])).toBe("Estimated from 90 %");
});

test("different rates are averaged, and exact counts left out", () => {
  expect(estimateWords([of(30, 3), of(500, 50), of(7, 7)])).toBe("Estimated from 1 in 10");
  expect(estimateWords([of(100, 10), of(100, 40)])).toBe("Estimated, on average from 1 in 4");
});
