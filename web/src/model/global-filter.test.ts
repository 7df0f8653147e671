import { expect, test } from "vitest";
import { checkedValues, isFiltered, parseValues, toggled, VALUES_MAX, valuesLabel, valuesText } from "./global-filter";

test("values survive the URL", () => {
  for (const values of [[], ["shop"], ["shop", "cart"], ["a,b", "c\\d", "\\,"], ["ü", "x y", "0"]])
    expect(parseValues(valuesText(values))).toEqual(values);
  expect(valuesText([])).toBeUndefined();
  expect(valuesText(["a", "b"])).toBe("a,b");
});

test("texts of the URL are checked", () => {
  expect(checkedValues(",,")).toBeUndefined();
  expect(checkedValues("a,,a,b")).toBe("a,b");
  expect(checkedValues("\\")).toBeUndefined();
  expect(checkedValues(7)).toBe("7");
  expect(checkedValues(true)).toBeUndefined();
  const many = Array.from({ length: VALUES_MAX + 5 }, (_, index) => `v${index}`);
  expect(parseValues(many.join(","))).toEqual(many.slice(0, VALUES_MAX));
});

test("labels name the first value", () => {
  expect(valuesLabel("All services", [])).toBe("All services");
  expect(valuesLabel("All services", ["shop"])).toBe("shop");
  expect(valuesLabel("All services", ["shop", "cart", "web"])).toBe("shop +2");
});

test("a value is added and removed", () => {
  expect(toggled(["a"], "b")).toEqual(["a", "b"]);
  expect(toggled(["a", "b"], "a")).toEqual(["b"]);
});

test("pages about one trace or no records have no filter", () => {
  for (const path of ["/p/1", "/p/1/traces", "/p/1/ai", "/p/1/ai/chat", "/p/1/issues/ff", "/p/1/endpoints/GET%20%2F"])
    expect(isFiltered(path), path).toBe(true);
  for (const path of ["/p/1/traces/ff", "/p/1/ai/t/7", "/p/1/connect", "/p/1/settings", "/p/1/settings/symbols"])
    expect(isFiltered(path), path).toBe(false);
});
