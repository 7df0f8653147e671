import { expect, test } from "vitest";
import { contained, requestedScope, scopeOptions, scopeWords } from "./scopes";

test.each([
  [undefined, "write"],
  ["", "write"],
  ["openid offline_access", "write"],
  ["read", "read"],
  ["write read", "write"],
  ["read write admin", "admin"],
  ["readonly", "write"],
] as const)("scope %j asks for %s", (text, expected) => {
  expect(requestedScope(text)).toBe(expected);
});

test("a scope contains the scopes before it, and only these are offered", () => {
  expect(contained("write")).toEqual(["read", "write"]);
  expect(scopeOptions("write").map((one) => one.value)).toEqual(["read", "write"]);
  expect(scopeWords(["read", "write"])).toBe("Read and change");
  expect(scopeWords([])).toBe("Nothing");
});
