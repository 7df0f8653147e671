import { expect, it } from "vitest";
import { spread } from "./spread";

const values = Array.from({ length: 10 }, (_, i) => ({ value: `u${i}`, count: i === 0 ? 24 : 15 }));

it("takes shares of the events, not of the values that are listed", () => {
  const { rows, more, without } = spread({ values, distinct: 61, count: 900 }, 1000);
  expect(rows[0]).toEqual({ value: "u0", count: 24, share: 0.024 });
  expect(rows).toHaveLength(5);
  expect([more, without]).toEqual([56, 100]);
});

it("has no more values than there are", () => {
  expect(spread({ values: values.slice(0, 2), distinct: 2, count: 39 }, 39)).toMatchObject({ more: 0, without: 0 });
  expect(spread({ values: [], distinct: 0, count: 0 }, 0)).toEqual({ rows: [], more: 0, without: 0 });
});
