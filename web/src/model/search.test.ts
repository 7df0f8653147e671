import { expect, it } from "vitest";
import {
  filtersText,
  parseFilters,
  parseSearch,
  parseSort,
  positive,
  scoped,
  sortText,
  stringifySearch,
  whole,
} from "./search";
import { asTraceId } from "./traceid";

it.each([
  [{ q: "GET /a b", page: 2, on: true }, "?q=GET+/a+b&page=2&on=1"],
  [{ q: "", page: undefined, off: false }, ""],
  [{ from: "2026-06-01T12:00:00Z", q: "100% & more" }, "?from=2026-06-01T12:00:00Z&q=100%25+%26+more"],
])("writes %j short", (search, want) => expect(stringifySearch(search)).toBe(want));

it("parses what it serialized", () => {
  expect(parseSearch(stringifySearch({ q: "a+b=c&d", attr: "k=v\nx=y" }))).toEqual({ q: "a+b=c&d", attr: "k=v\nx=y" });
});

it("ignores invalid values", () => {
  expect([whole("2.5"), whole("-1"), whole("x"), whole("3", 1), positive("abc"), positive("2.5")]).toEqual([
    undefined,
    undefined,
    undefined,
    3,
    undefined,
    2.5,
  ]);
  expect(parseSort("-nonsense", ["count"], { by: "count", desc: true })).toEqual({ by: "count", desc: true });
  expect(sortText(parseSort("count", ["count"], { by: "count", desc: true }))).toBe("count");
});

it("keeps '=' inside a filter's value", () => {
  const filters = parseFilters("http.url=https://x?a=b\nbroken\n =x");
  expect(filters).toEqual([{ key: "http.url", value: "https://x?a=b" }]);
  expect(filtersText(filters)).toBe("http.url=https://x?a=b");
  expect(filtersText([])).toBeUndefined();
});

it.each([
  ["4bf92f3577b34da6a3ce929d0e0e4736", "4bf92f3577b34da6a3ce929d0e0e4736"],
  [" 4BF92F35-77B3-4DA6-A3CE-929D0E0E4736 ", "4bf92f3577b34da6a3ce929d0e0e4736"],
  ["4bf92f3577b34da6", null],
  ["00000000000000000000000000000000", null],
])("trace id %s", (text, want) => expect(asTraceId(text)).toBe(want));

it("reads the scope of a log filter from its prefix", () => {
  expect(scoped({ key: "resource:host.name", value: "a" })).toEqual({
    scope: "resource",
    key: "host.name",
    value: "a",
  });
  expect(scoped({ key: "order:id", value: "7" })).toEqual({ scope: "any", key: "order:id", value: "7" });
});
