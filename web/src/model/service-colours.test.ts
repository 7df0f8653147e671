import { expect, it } from "vitest";
import { assign, COLOURS, readAssigned } from "./service-colours";

it("keeps the colour of a service for any other services", () => {
  const first = assign({}, ["payments", "cart"]);
  const second = assign(first, ["search", "cart", "mailer", "payments"]);
  expect([second.payments, second.cart]).toEqual([first.payments, first.cart]);
  expect(assign(second, ["cart"])).toBe(second);
});

it("uses every colour before one is repeated", () => {
  const names = Array.from({ length: 20 }, (_, i) => `service-${i}`);
  const all = assign({}, names);
  expect(new Set(names.slice(0, COLOURS).map((name) => all[name])).size).toBe(COLOURS);
  const counts = Array.from({ length: COLOURS }, (_, slot) => names.filter((name) => all[name] === slot).length);
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
});

it("gives a service the same colour in every browser that sees it first", () => {
  expect(assign({}, ["payments"])).toEqual(assign({}, ["payments"]));
  expect(Object.keys(assign({}, ["toString", "__proto__x", ""]))).toHaveLength(3);
});

it("stores a bounded number", () => {
  const names = Array.from({ length: 900 }, (_, i) => `s${i}`);
  expect(Object.keys(assign({}, names)).length).toBe(500);
});

it("reads stored assignments and skips invalid ones", () => {
  expect(readAssigned('{"a":3,"b":9,"c":"x","d":1.5}')).toEqual({ a: 3 });
  expect([readAssigned(null), readAssigned("[]"), readAssigned("no")]).toEqual([{}, {}, {}]);
});
