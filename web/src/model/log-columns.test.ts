import { expect, test } from "vitest";
import { atPath, cellOf, columnKeys, columnsText, jsonBody, parseColumns } from "./log-columns";
import type { LogRow } from "./types";

const row = (body: string, log = {}, resource = {}) =>
  ({
    body,
    logAttributes: log,
    scopeAttributes: {},
    resourceAttributes: resource,
    traceId: "ff",
    spanId: "",
    eventName: "",
    scopeName: "lib",
  }) as unknown as LogRow;

test("columns are kept in the address", () => {
  expect(parseColumns("tenant,body.user.id,tenant,")).toEqual(["tenant", "body.user.id"]);
  expect(parseColumns(columnsText(["a,b", "50%"]))).toEqual(["a,b", "50%"]);
  expect(columnsText([])).toBeUndefined();
  expect(parseColumns("a,b,c,d,e,f,g,h,i,j")).toHaveLength(8);
});

test("fields of a body are found as queries find them", () => {
  const body = { user: { id: 42 }, "a.b": 1, a: { b: 2, c: 3 }, items: [{ sku: "x" }], none: null };
  for (const [path, expected] of [
    ["user.id", 42],
    ["a.b", 1],
    ["a.c", 3],
    ["items.0.sku", "x"],
    ["items.1.sku", undefined],
    ["user.id.x", undefined],
    ["toString", undefined],
  ] as const)
    expect(atPath(body, path), path).toBe(expected);
  expect(jsonBody("[1]")).toBeNull();
  expect(jsonBody("{broken")).toBeNull();
});

test("cells of a row", () => {
  const one = row('{"user":{"id":42},"none":null}', { tenant: "acme" }, { tenant: "r", "host.name": "a" });
  expect(cellOf(one, "body.user.id")).toBe("42");
  expect(cellOf(one, "body.user")).toBe('{"id":42}');
  expect(cellOf(one, "body.none")).toBe("");
  expect(cellOf(one, "tenant")).toBe("acme");
  expect(cellOf(one, "resource.tenant")).toBe("r");
  expect(cellOf(one, "host.name")).toBe("a");
  expect(cellOf(one, "trace")).toBe("ff");
  expect(cellOf(one, "absent")).toBe("");
  expect(columnKeys([one, row("text", { tenant: "b" })])).toEqual(["tenant", "body.user.id", "host.name"]);
});
