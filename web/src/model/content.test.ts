import { expect, it } from "vitest";
import { cut, prettyJson, splitFences } from "./content";

it("splits code fences from text", () => {
  expect(
    splitFences("hello\n```json\n{}\n```\nbye").map((piece) => [piece.kind, piece.text.trim(), piece.language]),
  ).toEqual([
    ["text", "hello", ""],
    ["code", "{}", "json"],
    ["text", "bye", ""],
  ]);
});
it("keeps an unfinished fence as code", () => {
  expect(splitFences("```\ncut off").map((piece) => [piece.kind, piece.text])).toEqual([["code", "cut off"]]);
});
it("indents JSON and leaves other text unchanged", () => {
  expect(prettyJson('{"a":1}')).toBe('{\n  "a": 1\n}');
  expect(prettyJson("{not json")).toBe("{not json");
});
it("truncates long text and reports the omitted length", () => {
  expect(cut("abcdef", 4)).toEqual({ shown: "abcd", hidden: 2 });
});
