import { describe, expect, it } from "vitest";
import {
  callees,
  callers,
  type FlameTree,
  flameBoxes,
  flameTree,
  leftEdges,
  matchedShare,
  shareChange,
} from "./flame-tree";

type Sample = { stack: number[]; value: number };
const NAMES = ["total", "a", "b", "c", "d"];

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function samplesOf(seed: number): Sample[] {
  const next = random(seed);
  return Array.from({ length: 1 + Math.floor(next() * 40) }, () => ({
    stack: Array.from({ length: Math.floor(next() * 7) }, () => 1 + Math.floor(next() * 4)),
    value: 1 + Math.floor(next() * 100),
  }));
}

/** Naive: every node is the set of samples whose stack starts with its path. */
function treeOf(samples: Sample[]): FlameTree {
  const columns = {
    names: NAMES,
    name: [] as number[],
    level: [] as number[],
    self: [] as number[],
    total: [] as number[],
  };
  const sum = (list: Sample[]) => list.reduce((all, one) => all + one.value, 0);
  const walk = (id: number, depth: number, under: Sample[]) => {
    columns.name.push(id);
    columns.level.push(depth);
    columns.self.push(sum(under.filter((one) => one.stack.length === depth)));
    columns.total.push(sum(under));
    for (const child of [1, 2, 3, 4]) {
      const below = under.filter((one) => one.stack[depth] === child);
      if (below.length > 0) walk(child, depth + 1, below);
    }
  };
  walk(0, 0, samples);
  return flameTree(columns);
}

/** Value per path of names below the root, joined by "/". */
function paths(tree: FlameTree): Map<string, number> {
  const out = new Map<string, number>();
  const path: number[] = [];
  for (let node = 0; node < tree.level.length; node++) {
    path.length = tree.level[node] ?? 0;
    path.push(tree.name[node] ?? 0);
    out.set(path.join("/"), tree.total[node] ?? 0);
  }
  return out;
}

/** Naive sandwich: adds each sample to every prefix of its stack cut at the outermost frame. */
function cut(samples: Sample[], id: number, side: (stack: number[], at: number) => number[]): Map<string, number> {
  const out = new Map<string, number>([[String(id), 0]]);
  for (const { stack, value } of samples) {
    const at = stack.indexOf(id);
    if (at < 0) continue;
    const part = side(stack, at);
    for (let length = 1; length <= part.length; length++) {
      const key = part.slice(0, length).join("/");
      out.set(key, (out.get(key) ?? 0) + value);
    }
  }
  return out;
}

describe("random trees against naive sums over samples", () => {
  for (let seed = 1; seed <= 60; seed++) {
    it(`seed ${seed}`, () => {
      const samples = samplesOf(seed);
      const tree = treeOf(samples);
      const total = tree.total[0] as number;
      for (const id of [1, 2, 3, 4]) {
        expect(paths(callees(tree, id))).toEqual(cut(samples, id, (stack, at) => stack.slice(at)));
        expect(paths(callers(tree, id))).toEqual(cut(samples, id, (stack, at) => stack.slice(0, at + 1).reverse()));
        const matched = samples.filter((one) => one.stack.includes(id)).reduce((all, one) => all + one.value, 0);
        expect(matchedShare(tree, (name) => name === NAMES[id])).toBeCloseTo(matched / total, 12);
      }
      const left = leftEdges(tree);
      for (let node = 1; node < tree.level.length; node++) {
        const parent = tree.parent[node] as number;
        expect(left[node]).toBeGreaterThanOrEqual(left[parent] as number);
        expect((left[node] as number) + (tree.total[node] as number)).toBeLessThanOrEqual(
          (left[parent] as number) + (tree.total[parent] as number),
        );
      }
      // Wide enough, every node is one box of its own; narrow, no more boxes than pixels per level.
      expect(flameBoxes(tree, left, 0, total).map((box) => box.node)).toEqual(tree.level.map((_, node) => node));
      const perLevel = new Map<number, number>();
      for (const box of flameBoxes(tree, left, 0, 8)) perLevel.set(box.level, (perLevel.get(box.level) ?? 0) + 1);
      for (const count of perLevel.values()) expect(count).toBeLessThanOrEqual(16);
    });
  }
});

describe("edges", () => {
  it("rejects levels that are no pre-order", () => {
    expect(() => flameTree({ names: NAMES, name: [0, 1], level: [0, 2], self: [0, 1], total: [1, 1] })).toThrow(
      "pre-order",
    );
    expect(() => flameTree({ names: NAMES, name: [0, 1], level: [0, 0], self: [0, 1], total: [1, 1] })).toThrow(
      "pre-order",
    );
  });
  it("an empty profile has no box and no matched share", () => {
    const tree = flameTree({ names: NAMES, name: [0], level: [0], self: [0], total: [0] });
    expect(flameBoxes(tree, leftEdges(tree), 0, 100)).toEqual([]);
    expect(matchedShare(tree, () => true)).toBe(0);
  });
  it("a zoomed box keeps its ancestors at full width", () => {
    const tree = treeOf([
      { stack: [1, 2], value: 1 },
      { stack: [3], value: 9 },
    ]);
    const boxes = flameBoxes(tree, leftEdges(tree), 2, 50);
    expect(boxes.map((box) => [box.node, box.x, box.width])).toEqual([
      [0, 0, 50],
      [1, 0, 50],
      [2, 0, 50],
    ]);
  });
  it("a diff compares shares, not amounts", () => {
    expect(shareChange(20, 100, 2, 10)).toBe(0);
    expect(shareChange(50, 100, 2, 10)).toBeCloseTo(0.3);
    expect(shareChange(1, 10, 0, 0)).toBeCloseTo(0.1);
  });
});
