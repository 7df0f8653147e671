import { expect, it } from "vitest";
import { pieces } from "./breaks";

it.each([
  ["http.request.method", ["http.", "request.", "method"]],
  ["gen_ai.usage.input_tokens", ["gen_", "ai.", "usage.", "input_", "tokens"]],
  ["_private", ["_", "private"]],
  ["a..b", ["a..", "b"]],
  ["", []],
])("%s breaks after dots and underscores", (name, want) => {
  expect(pieces(name)).toEqual(want);
  expect(pieces(name).join("")).toBe(name);
});
