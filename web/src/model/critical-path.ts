// The critical path of a trace: the spans that determine its duration, and the own time of each.
import type { Trace } from "./waterfall";

/** Milliseconds after the trace's start. */
export interface Interval {
  from: number;
  to: number;
}
export interface CriticalPath {
  /** Per span index: the intervals in which the path is in the span and in none of its children, latest first. */
  own: Map<number, Interval[]>;
  /** Sum of the own time of all spans on the path, in milliseconds. */
  totalMs: number;
  /** Index of the span with the most own time on the path; -1 without spans. */
  worst: number;
}

/** Longer traces open at the worst span of their path. Equals the "satisfied" limit of an endpoint's page. */
export const SLOW_TRACE_MS = 500;
/** Tolerance of comparisons, in milliseconds. */
const EPSILON = 1e-6;

/** Walks backwards from the end, each time to the child that ended last. Skips children that outlive their parent. */
export function criticalPath(trace: Trace): CriticalPath {
  const { nodes } = trace;
  const own = new Map<number, Interval[]>();
  if (!nodes.length) return { own, totalMs: 0, worst: -1 };
  const endOf = (i: number) => nodes[i].startMs + nodes[i].durationMs;
  let root = 0;
  for (let i = 0; i < nodes.length; i++)
    if (nodes[i].parent < 0 && nodes[i].durationMs > nodes[root].durationMs) root = i;
  // A span, and the interval in which the path is in its subtree.
  const work: [number, Interval][] = [[root, { from: nodes[root].startMs, to: endOf(root) }]];
  while (work.length) {
    const [at, { from, to }] = work.pop()!;
    if (own.has(at)) continue;
    const intervals: Interval[] = [];
    own.set(at, intervals);
    const kids: number[] = [];
    for (let i = at + 1; i < nodes[at].end; i = nodes[i].end) kids.push(i);
    kids.sort((a, b) => endOf(b) - endOf(a));
    let cursor = to;
    for (const kid of kids) {
      const end = endOf(kid);
      if (end > cursor + EPSILON || end <= from || nodes[kid].durationMs === 0) continue;
      const start = Math.max(from, nodes[kid].startMs);
      if (cursor - end > EPSILON) intervals.push({ from: end, to: cursor });
      work.push([kid, { from: start, to: Math.min(end, cursor) }]);
      cursor = start;
    }
    if (cursor - from > EPSILON) intervals.push({ from, to: cursor });
  }
  let [totalMs, worst, most] = [0, root, -1];
  for (const at of own.keys()) {
    const ms = ownMs(own, at);
    totalMs += ms;
    if (ms > most) [worst, most] = [at, ms];
  }
  return { own, totalMs, worst };
}

/** Own time on the path in milliseconds; 0 for spans that are not on it. */
export function ownMs(own: CriticalPath["own"], index: number): number {
  return (own.get(index) ?? []).reduce((sum, interval) => sum + interval.to - interval.from, 0);
}
