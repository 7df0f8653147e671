// The spans that decided how long a trace took, and the time that each of them took by itself.
import type { Trace } from "./waterfall";

/** Milliseconds after the trace's start. */
export interface Stretch {
  from: number;
  to: number;
}
export interface CriticalPath {
  /** Per span on the path, by index: when the path was in the span itself and in none of its children, latest first. */
  own: Map<number, Stretch[]>;
  /** Milliseconds of all own time on the path. */
  totalMs: number;
  /** Index of the span with the most own time on the path; -1 without spans. */
  worst: number;
}

/** A trace that takes longer opens at the worst span of its path: where the page of an endpoint stops being satisfied. */
export const SLOW_TRACE_MS = 500;
/** Below the resolution of a float of milliseconds. */
const EPSILON = 1e-6;

/** From the last end backwards: always the child that ended last before. Children that outlive their parent kept nobody waiting. */
export function criticalPath(trace: Trace): CriticalPath {
  const { nodes } = trace;
  const own = new Map<number, Stretch[]>();
  if (!nodes.length) return { own, totalMs: 0, worst: -1 };
  const endOf = (i: number) => nodes[i].startMs + nodes[i].durationMs;
  let root = 0;
  for (let i = 0; i < nodes.length; i++)
    if (nodes[i].parent < 0 && nodes[i].durationMs > nodes[root].durationMs) root = i;
  // A span, and the stretch of time that is the path's there.
  const work: [number, Stretch][] = [[root, { from: nodes[root].startMs, to: endOf(root) }]];
  while (work.length) {
    const [at, { from, to }] = work.pop()!;
    if (own.has(at)) continue;
    const stretches: Stretch[] = [];
    own.set(at, stretches);
    const kids: number[] = [];
    for (let i = at + 1; i < nodes[at].end; i = nodes[i].end) kids.push(i);
    kids.sort((a, b) => endOf(b) - endOf(a));
    let cursor = to;
    for (const kid of kids) {
      const end = endOf(kid);
      if (end > cursor + EPSILON || end <= from || nodes[kid].durationMs === 0) continue;
      const start = Math.max(from, nodes[kid].startMs);
      if (cursor - end > EPSILON) stretches.push({ from: end, to: cursor });
      work.push([kid, { from: start, to: Math.min(end, cursor) }]);
      cursor = start;
    }
    if (cursor - from > EPSILON) stretches.push({ from, to: cursor });
  }
  let [totalMs, worst, most] = [0, root, -1];
  for (const at of own.keys()) {
    const ms = ownMs(own, at);
    totalMs += ms;
    if (ms > most) [worst, most] = [at, ms];
  }
  return { own, totalMs, worst };
}

/** Milliseconds of own time on the path; 0 for spans beside it. */
export function ownMs(own: CriticalPath["own"], index: number): number {
  return (own.get(index) ?? []).reduce((sum, stretch) => sum + stretch.to - stretch.from, 0);
}
