import { expect, test } from "vitest";
import { hasBraces, traceQuery } from "./trace-query";

test("braces outside quotes are conditions of spans", () => {
  expect([hasBraces("{a:b}"), hasBraces('path:"/users/{id}"'), hasBraces("a\\{b"), hasBraces("a b")]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test("conditions of links are added to the text", () => {
  expect(traceQuery({})).toBe("");
  expect(traceQuery({ q: "card" })).toBe("card");
  expect(traceQuery({ kind: 3, status: 2 })).toBe("kind:3 status:2");
  expect(traceQuery({ q: "a OR b", kind: 3 })).toBe("(a OR b) kind:3");
  expect(traceQuery({ q: "{a:b} > {c:d}", kind: 3 })).toBe("{a:b} > {c:d} {kind:3}");
});
