import { expect, it } from "vitest";
import { indexSources, openAtFirst, sourceLines, sourceOf } from "./sources";
import { foldStack, parseStack } from "./stack";
import type { FrameSource } from "./types";

const source = (more: Partial<FrameSource> = {}): FrameSource => ({
  file: "src/cart.ts",
  line: 8,
  column: 11,
  firstLine: 7,
  lines: ["  if (!items.length) {", "    throw new EmptyCart(items);", "  }"],
  mark: 10,
  ...more,
});

it("finds the source of a frame by its location, and opens the first in-app frame", () => {
  const text = "E: x\n    at lib (node_modules/a.js:1:2)\n    at total (src/cart.ts:8:11)\n    at pay (src/pay.ts:3:1)";
  const blocks = foldStack(parseStack(text));
  const library = source({ file: "node_modules/a.js", line: 1, column: 2 });
  const open = (...frames: FrameSource[]) => openAtFirst(blocks, indexSources(frames));
  expect(open(library, source())).toBe(2);
  expect(open(library)).toBe(1);
  expect(open()).toBe(-1);
  const known = indexSources([source()]);
  expect(sourceOf(known, { file: "src/cart.ts", line: 8, column: 11 })).toBeDefined();
  expect(sourceOf(known, { file: "src/cart.ts", line: 8, column: 12 })).toBeUndefined();
});

it("marks the token at the column, without the common indentation", () => {
  expect(sourceLines(source())).toEqual([
    { number: 7, isHere: false, parts: ["if (!items.length) {", "", ""] },
    { number: 8, isHere: true, parts: ["  throw ", "new", " EmptyCart(items);"] },
    { number: 9, isHere: false, parts: ["}", "", ""] },
  ]);
});

it.each([
  [source({ lines: ["a", "…b.c()", "d"], mark: 2 }), ["…b", ".", "c()"]],
  [source({ mark: null }), ["  throw new EmptyCart(items);", "", ""]],
  [source({ mark: 400 }), ["  throw new EmptyCart(items);", "", ""]],
  [source({ lines: ["", "", ""], mark: 0 }), ["", "", ""]],
])("shows a truncated line, or one without a token at its column", (given, parts) => {
  expect(sourceLines(given)[1].parts).toEqual(parts);
});
