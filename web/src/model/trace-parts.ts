// Data of the views of a trace besides the waterfall: a merged flame graph, a sorted table, a map of services.
import type { FlameTree } from "./flame-tree";
import type { Sort } from "./search";
import type { SpanInput, Trace } from "./waterfall";

/** A flame graph of own time: spans of one name and service below the same ones are merged. */
export interface TraceFlame {
  tree: FlameTree;
  /** Service of each name of the tree. */
  services: string[];
  /** Per node: its span with the most own time, and the number of its spans. */
  longest: number[];
  counts: number[];
}

interface Merged {
  name: number;
  self: number;
  total: number;
  longest: number;
  count: number;
  children: Map<number, number>;
}

export function traceFlame(trace: Trace): TraceFlame {
  const names: string[] = ["all spans"];
  const services: string[] = [""];
  const numbers = new Map<string, number>();
  const merged: Merged[] = [{ name: 0, self: 0, total: 0, longest: 0, count: 0, children: new Map() }];
  const nodeOf: number[] = [];
  trace.nodes.forEach(({ span, parent, selfMs }, i) => {
    const key = `${span.serviceName}\n${span.name}`;
    let name = numbers.get(key);
    if (name === undefined) {
      name = names.length;
      numbers.set(key, name);
      names.push(span.serviceName ? `${span.name} · ${span.serviceName}` : span.name);
      services.push(span.serviceName);
    }
    const above = merged[parent >= 0 ? nodeOf[parent] : 0];
    let at = above.children.get(name);
    if (at === undefined) {
      at = merged.length;
      above.children.set(name, at);
      merged.push({ name, self: 0, total: 0, longest: i, count: 0, children: new Map() });
    }
    nodeOf.push(at);
    const node = merged[at];
    node.self += selfMs;
    node.count += 1;
    if (selfMs > trace.nodes[node.longest].selfMs) node.longest = i;
  });
  // A merged node is made after the one above it.
  for (let at = merged.length - 1; at >= 0; at--) {
    const node = merged[at];
    node.total += node.self;
    for (const child of node.children.values()) node.total += merged[child].total;
  }
  const flame: TraceFlame = {
    tree: { names, name: [], level: [], self: [], total: [], parent: new Int32Array(0), end: new Int32Array(0) },
    services,
    longest: [],
    counts: [],
  };
  const parents: number[] = [];
  const ends: number[] = [];
  const stack: { at: number; parent: number; level: number; close?: number }[] = [{ at: 0, parent: -1, level: 0 }];
  while (stack.length) {
    const step = stack.pop()!;
    if (step.close !== undefined) {
      ends[step.close] = flame.tree.name.length;
      continue;
    }
    const node = merged[step.at];
    const place = flame.tree.name.length;
    flame.tree.name.push(node.name);
    flame.tree.level.push(step.level);
    flame.tree.self.push(node.self);
    flame.tree.total.push(node.total);
    flame.longest.push(node.longest);
    flame.counts.push(node.count);
    parents.push(step.parent);
    stack.push({ at: -1, parent: -1, level: 0, close: place });
    const below = [...node.children.values()].sort((a, b) => merged[a].total - merged[b].total || b - a);
    for (const at of below) stack.push({ at, parent: place, level: step.level + 1 });
  }
  flame.tree.parent = Int32Array.from(parents);
  flame.tree.end = Int32Array.from(ends);
  return flame;
}

export type SpanOrder = "own" | "duration" | "start" | "name" | "service";

/** Indices of the spans that contain the text, in order; ties stay in the order of the waterfall. */
export function sortedSpans(trace: Trace, sort: Sort<SpanOrder>, text = ""): number[] {
  const wanted = text.toLowerCase();
  const value = (i: number): number | string => {
    const { span, selfMs, durationMs, startMs } = trace.nodes[i];
    if (sort.by === "own") return selfMs;
    if (sort.by === "duration") return durationMs;
    if (sort.by === "start") return startMs;
    return sort.by === "name" ? span.name : span.serviceName;
  };
  const matches = ({ name, serviceName, spanId }: SpanInput) =>
    !wanted || `${name}\n${serviceName}\n${spanId}`.toLowerCase().includes(wanted);
  const sign = sort.desc ? -1 : 1;
  return trace.nodes
    .map((_, i) => i)
    .filter((i) => matches(trace.nodes[i].span))
    .sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      return (x < y ? -sign : x > y ? sign : 0) || a - b;
    });
}

/** A service on the map; columns run from callers to called services. */
export interface MapNode {
  name: string;
  column: number;
  row: number;
}

/** Places services in columns by their distance from those that no other calls; in circles the earliest begins. */
export function layOutServices(names: string[], calls: { from: string; to: string }[]): MapNode[] {
  const called = new Set(calls.map((call) => call.to));
  const column = new Map<string, number>();
  let next = names.filter((name) => !called.has(name));
  for (let at = 0; column.size < names.length; at++) {
    if (!next.length) next = names.filter((name) => !column.has(name)).slice(0, 1);
    for (const name of next) column.set(name, at);
    const reached = new Set(next);
    next = [...new Set(calls.filter((call) => reached.has(call.from)).map((call) => call.to))].filter(
      (name) => !column.has(name) && names.includes(name),
    );
  }
  const rows = new Map<number, number>();
  return names.map((name) => {
    const at = column.get(name) ?? 0;
    const row = rows.get(at) ?? 0;
    rows.set(at, row + 1);
    return { name, column: at, row };
  });
}

/** Index of the deepest span that runs at a time, the latest to start among equals; -1 without one. */
export function runningAt(trace: Trace, ms: number): number {
  let best = -1;
  trace.nodes.forEach(({ startMs, durationMs, depth }, i) => {
    if (ms < startMs || ms > startMs + durationMs) return;
    const other = trace.nodes[best];
    if (!other || depth > other.depth || (depth === other.depth && startMs >= other.startMs)) best = i;
  });
  return best;
}
