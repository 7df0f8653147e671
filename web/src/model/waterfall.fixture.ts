// A trace from spans with ids, for tests: the server builds that of the page. Not recursive, so that it handles cycles.
import { parseNs } from "./time";
import type { Node, ServiceShare, SpanInput, Trace } from "./waterfall";

export function buildTrace<S extends SpanInput>(spans: S[]): Trace<S> {
  const starts = spans.map((span) => parseNs(span.startTime) ?? 0n);
  let startNs = starts.length ? starts[0] : 0n;
  for (const ns of starts) if (ns < startNs) startNs = ns;
  const offset = starts.map((ns) => Number(ns - startNs) / 1e6);

  const first = new Map<string, number>();
  spans.forEach((span, i) => {
    if (!first.has(span.spanId)) first.set(span.spanId, i);
  });
  const children: number[][] = spans.map(() => []);
  const roots: number[] = [];
  spans.forEach((span, i) => {
    const parent = span.parentSpanId ? first.get(span.parentSpanId) : undefined;
    if (parent === undefined || parent === i) roots.push(i);
    else children[parent].push(i);
  });
  const byStart = (a: number, b: number) => offset[a] - offset[b] || a - b;
  for (const list of children) if (list.length > 1) list.sort(byStart);
  roots.sort(byStart);

  const nodes: Node<S>[] = [];
  const seen = new Uint8Array(spans.length);
  const walk = (start: number) => {
    const stack: { at: number; parent: number; depth: number; close?: number }[] = [
      { at: start, parent: -1, depth: 0 },
    ];
    while (stack.length) {
      const step = stack.pop()!;
      if (step.close !== undefined) {
        nodes[step.close].end = nodes.length;
        continue;
      }
      if (seen[step.at]) continue;
      seen[step.at] = 1;
      const span = spans[step.at];
      const index = nodes.length;
      nodes.push({
        span,
        parent: step.parent,
        depth: step.depth,
        childCount: 0,
        end: index + 1,
        startMs: offset[step.at],
        durationMs: span.duration / 1e6,
        selfMs: span.duration / 1e6,
        error: span.statusCode === 2,
        missingParent: step.parent === -1 && span.parentSpanId !== "",
      });
      if (step.parent >= 0) nodes[step.parent].childCount += 1;
      stack.push({ at: -1, parent: -1, depth: 0, close: index });
      const list = children[step.at];
      for (let i = list.length - 1; i >= 0; i--) stack.push({ at: list[i], parent: index, depth: step.depth + 1 });
    }
  };
  for (const root of roots) walk(root);
  // Spans in a parent cycle are reachable from no root: each cycle is opened at its first span.
  for (let i = 0; i < spans.length; i++) if (!seen[i]) walk(i);

  takeChildTime(nodes);
  let endMs = 0;
  const errors: number[] = [];
  const indexOf = new Map<string, number>();
  nodes.forEach((node, i) => {
    endMs = Math.max(endMs, node.startMs + node.durationMs);
    if (node.error) errors.push(i);
    if (!indexOf.has(node.span.spanId)) indexOf.set(node.span.spanId, i);
  });
  return { nodes, indexOf, startNs, totalMs: endMs, errors, services: shares(nodes) };
}

/** Children are in order of start, so one running end per parent yields the union of their intervals. */
function takeChildTime(nodes: Node[]): void {
  const covered = new Float64Array(nodes.length).fill(Number.NEGATIVE_INFINITY);
  for (const node of nodes) {
    if (node.parent < 0) continue;
    const parent = nodes[node.parent];
    const parentEnd = parent.startMs + parent.durationMs;
    const from = Math.max(node.startMs, covered[node.parent], parent.startMs);
    const to = Math.min(node.startMs + node.durationMs, parentEnd);
    if (to > from) {
      parent.selfMs = Math.max(0, parent.selfMs - (to - from));
      covered[node.parent] = to;
    }
  }
}

function shares(nodes: Node[]): ServiceShare[] {
  const byName = new Map<string, { spans: number; selfMs: number }>();
  let all = 0;
  for (const node of nodes) {
    const entry = byName.get(node.span.serviceName) ?? { spans: 0, selfMs: 0 };
    entry.spans += 1;
    entry.selfMs += node.selfMs;
    all += node.selfMs;
    byName.set(node.span.serviceName, entry);
  }
  const list = [...byName].map(([name, entry]) => ({ name, ...entry, share: all ? entry.selfMs / all : 0 }));
  list.sort((a, b) => b.selfMs - a.selfMs || (a.name < b.name ? -1 : 1));
  return list;
}
