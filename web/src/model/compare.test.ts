import { describe, expect, it } from "vitest";
import { changeSign, changeWords, relativeChange, shiftOf } from "./compare";

describe("comparisons", () => {
  it("have no percentage on fewer than 20 samples, nor without a base", () => {
    expect(relativeChange(3, 2, 20, 20)).toBeCloseTo(0.5);
    expect(relativeChange(3, 2, 19, 20)).toBeNull();
    expect(relativeChange(3, 2, 20, 19)).toBeNull();
    expect(relativeChange(3, 0, 20, 20)).toBeNull();
  });

  it.each([
    [0.2, "20 % more than before", "+20 %"],
    [-0.354, "35 % less than before", "−35 %"],
    [2.21, "3.2 times as much as before", "×3.2"],
    [0.001, "as much as before", "±0 %"],
    [0.0051, "1 % more than before", "+1 %"],
  ])("%f is %s, %s", (change, words, sign) => {
    expect([changeWords(change), changeSign(change)]).toEqual([words, sign]);
  });

  it("are with the time before, or the same time of an earlier week", () => {
    const hour = 3_600_000;
    const span = { fromMs: 10 * hour, toMs: 12 * hour };
    expect(shiftOf("previous", span)).toBe(2 * hour);
    expect(shiftOf("week", span)).toBe(7 * 24 * hour);
    expect(shiftOf("week", { fromMs: 0, toMs: 8 * 24 * hour })).toBe(14 * 24 * hour);
  });
});
