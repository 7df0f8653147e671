import { expect, test } from "vitest";
import { ALL_FLAGS, flagsOf, GROUPINGS, groupingOf, queryOf } from "./ai";

test("the query of a group selects its rows, also those without a value", () => {
  for (const [by, name, query] of [
    ["model", "gpt-4o", "model:gpt-4o"],
    ["prompt", "say hello", 'prompt:"say hello"'],
    ["user", "", "-has:user"],
    ["service", "a*b", 'service:"a*b"'],
  ]) {
    expect(queryOf(groupingOf(by), name)).toBe(query);
  }
});

test("an unknown grouping is that by name", () => {
  expect(groupingOf("colour")).toBe(GROUPINGS[0]);
  expect(groupingOf(undefined)).toBe(GROUPINGS[0]);
});

test("flags are selected by name, or all of them", () => {
  expect(flagsOf("truncated")).toEqual(["truncated"]);
  expect(flagsOf("any")).toEqual(ALL_FLAGS);
  expect(flagsOf(undefined)).toEqual([]);
  expect(flagsOf("colour")).toEqual([]);
});
