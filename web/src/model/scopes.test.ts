import { expect, test } from "vitest";
import { askedScope, contained, scopeOptions, scopeWords } from "./scopes";

test.each([
  [undefined, "write"],
  ["", "write"],
  ["openid offline_access", "write"],
  ["read", "read"],
  ["write read", "write"],
  ["read write admin", "admin"],
  ["readonly", "write"],
] as const)("scope %j asks for %s", (text, expected) => {
  expect(askedScope(text)).toBe(expected);
});

test("a scope contains those before it, and no more is offered", () => {
  expect(contained("write")).toEqual(["read", "write"]);
  expect(scopeOptions("write").map((one) => one.value)).toEqual(["read", "write"]);
  expect(scopeWords(["read", "write"])).toBe("Read and change");
  expect(scopeWords([])).toBe("Nothing");
});
