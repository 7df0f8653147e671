/**
 * A profile as a tree in columns, as `POST /api/profiles/flamegraph` sends it.
 * Nodes stand in depth-first pre-order; node 0 is the root at level 0.
 */
export type FlameTree = {
  /** Function name of each name index. */
  names: string[];
  /** Name index of each node. */
  name: number[];
  /** Depth of each node; 0 for the root. */
  level: number[];
  /** Value of the node without its children. */
  self: number[];
  /** Value of the node with its children. */
  total: number[];
  /** Index of the parent of each node; -1 for the root. */
  parent: Int32Array;
  /** Index behind the last node of each node's subtree. */
  end: Int32Array;
};

export type FlameColumns = Omit<FlameTree, "parent" | "end">;

/** Adds parents and subtree ends in one pass. Throws when the levels are not a pre-order. */
export function flameTree(columns: FlameColumns): FlameTree {
  const n = columns.level.length;
  const parent = new Int32Array(n).fill(-1);
  const end = new Int32Array(n).fill(n);
  const open: number[] = [];
  for (let node = 0; node < n; node++) {
    const level = columns.level[node] ?? 0;
    if (level > open.length || (node > 0 && level < 1)) {
      throw new Error(`node ${node}: level ${level} is not a pre-order`);
    }
    while (open.length > level) end[open.pop() as number] = node;
    parent[node] = open.at(-1) ?? -1;
    open.push(node);
  }
  return { ...columns, parent, end };
}

/** Left edge of each node in value units; children lie side by side from their parent's left edge. */
export function leftEdges(tree: FlameTree): Float64Array {
  const left = new Float64Array(tree.level.length);
  const next = new Float64Array(tree.level.length);
  for (let node = 1; node < left.length; node++) {
    const parent = tree.parent[node] as number;
    left[node] = next[parent] as number;
    next[node] = left[node] as number;
    next[parent] = (next[parent] as number) + (tree.total[node] ?? 0);
  }
  return left;
}

/** One rectangle to draw: a node, or neighbours below one pixel merged (`count` above 1). */
export type FlameBox = { node: number; level: number; x: number; width: number; count: number };

/**
 * Rectangles of the subtree of `focus` and of its ancestors, `width` pixels wide.
 * Nodes narrower than one pixel merge per level and pixel, and their subtrees are not walked.
 */
export function flameBoxes(tree: FlameTree, left: Float64Array, focus: number, width: number): FlameBox[] {
  const boxes: FlameBox[] = [];
  const total = tree.total[focus] ?? 0;
  if (total <= 0 || width <= 0) return boxes;
  for (let up = tree.parent[focus] as number; up >= 0; up = tree.parent[up] as number) {
    boxes.unshift({ node: up, level: tree.level[up] ?? 0, x: 0, width, count: 1 });
  }
  const scale = width / total;
  const origin = left[focus] as number;
  const narrow: (FlameBox | undefined)[] = [];
  let node = focus;
  while (node < (tree.end[focus] as number)) {
    const value = tree.total[node] ?? 0;
    const x = ((left[node] as number) - origin) * scale;
    const level = tree.level[node] ?? 0;
    if (value * scale >= 1) {
      boxes.push({ node, level, x, width: value * scale, count: 1 });
      node++;
      continue;
    }
    if (value > 0) {
      const last = narrow[level];
      if (last !== undefined && last.x === Math.floor(x)) {
        last.count++;
        if (value > (tree.total[last.node] ?? 0)) last.node = node;
      } else {
        const box = { node, level, x: Math.floor(x), width: 1, count: 1 };
        narrow[level] = box;
        boxes.push(box);
      }
    }
    node = tree.end[node] as number;
  }
  return boxes;
}

/** Share of the root's total below nodes whose name matches; a match within a match counts once. */
export function matchedShare(tree: FlameTree, matches: (name: string) => boolean): number {
  const hit = tree.names.map(matches);
  let sum = 0;
  let node = 0;
  while (node < tree.level.length) {
    if (hit[tree.name[node] ?? -1]) {
      sum += tree.total[node] ?? 0;
      node = tree.end[node] as number;
    } else node++;
  }
  const total = tree.total[0] ?? 0;
  return total > 0 ? sum / total : 0;
}

type Building = { name: number; self: number; total: number; children: Map<number, Building> };
const building = (name: number): Building => ({ name, self: 0, total: 0, children: new Map() });

function columnsOf(names: string[], root: Building): FlameTree {
  const out: FlameColumns = { names, name: [], level: [], self: [], total: [] };
  const stack: { at: Building; level: number }[] = [{ at: root, level: 0 }];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    out.name.push(top.at.name);
    out.level.push(top.level);
    out.self.push(top.at.self);
    out.total.push(top.at.total);
    const children = [...top.at.children.values()].sort((a, b) => a.total - b.total || b.name - a.name);
    for (const child of children) stack.push({ at: child, level: top.level + 1 });
  }
  return flameTree(out);
}

/**
 * Callees of a function: the subtrees of its outermost frames merged, heaviest first.
 * A recursive frame stays inside the subtree of the outermost one, so no value counts twice.
 */
export function callees(tree: FlameTree, name: number): FlameTree {
  const root = building(name);
  let node = 0;
  while (node < tree.level.length) {
    if (tree.name[node] !== name) {
      node++;
      continue;
    }
    const end = tree.end[node] as number;
    const base = tree.level[node] ?? 0;
    const path: Building[] = [];
    for (; node < end; node++) {
      const depth = (tree.level[node] ?? 0) - base;
      const id = tree.name[node] ?? 0;
      let at = root;
      if (depth > 0) {
        const above = path[depth - 1] as Building;
        at = above.children.get(id) ?? building(id);
        above.children.set(id, at);
      }
      at.self += tree.self[node] ?? 0;
      at.total += tree.total[node] ?? 0;
      path[depth] = at;
    }
  }
  return columnsOf(tree.names, root);
}

/** Callers of a function, inverted: its outermost frames at the root, each caller one level further. */
export function callers(tree: FlameTree, name: number): FlameTree {
  const root = building(name);
  let node = 0;
  while (node < tree.level.length) {
    if (tree.name[node] !== name) {
      node++;
      continue;
    }
    const value = tree.total[node] ?? 0;
    let at = root;
    at.total += value;
    for (let up = tree.parent[node] as number; up > 0; up = tree.parent[up] as number) {
      const id = tree.name[up] ?? 0;
      const next = at.children.get(id) ?? building(id);
      at.children.set(id, next);
      next.total += value;
      at = next;
    }
    at.self += value;
    node = tree.end[node] as number;
  }
  return columnsOf(tree.names, root);
}

/**
 * Change of a node's share between a baseline and the selection, -1 to 1.
 * Each side is divided by its own total, so that ranges of different length compare.
 */
export function shareChange(value: number, total: number, baseline: number, baselineTotal: number): number {
  return (total > 0 ? value / total : 0) - (baselineTotal > 0 ? baseline / baselineTotal : 0);
}
