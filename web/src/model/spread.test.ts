import { expect, it } from "vitest";
import { spread } from "./spread";

const values = Array.from({ length: 10 }, (_, i) => ({ value: `u${i}`, count: i === 0 ? 24 : 15 }));

it("shares are of all events, not of the listed values", () => {
  const { rows, more, without } = spread({ values, distinct: 61, count: 900 }, 1000);
  expect(rows[0]).toEqual({ value: "u0", count: 24, share: 0.024 });
  expect(rows).toHaveLength(5);
  expect([more, without]).toEqual([56, 100]);
});

it("has no other values if all are listed", () => {
  expect(spread({ values: values.slice(0, 2), distinct: 2, count: 39 }, 39)).toMatchObject({ more: 0, without: 0 });
  expect(spread({ values: [], distinct: 0, count: 0 }, 0)).toEqual({ rows: [], more: 0, without: 0 });
});
