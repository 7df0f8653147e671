// The flat pre-order tree of the spans of one trace, and its rows in sight. Every function is O(n) and not recursive, so
// that it handles 100,000 spans.

/** Fields of a span that the waterfall uses; a subset of the API's Span. */
export interface SpanInput {
  spanId: string;
  parentSpanId: string;
  name: string;
  startTime: string;
  duration: number;
  statusCode: number;
  serviceName: string;
}

export interface Node<S extends SpanInput = SpanInput> {
  span: S;
  /** Index of the parent in `nodes`; -1 for roots and for spans whose parent is missing. */
  parent: number;
  depth: number;
  childCount: number;
  /** Nodes `[index + 1, end)` are the subtree. */
  end: number;
  /** Milliseconds after the trace's first span. */
  startMs: number;
  durationMs: number;
  /** Own time in milliseconds: in which no child runs; time of several running children is divided among them. */
  selfMs: number;
  error: boolean;
  missingParent: boolean;
}

export interface Trace<S extends SpanInput = SpanInput> {
  nodes: Node<S>[];
  indexOf: Map<string, number>;
  startNs: bigint;
  /** Milliseconds from the first start to the last end. */
  totalMs: number;
  errors: number[];
  services: ServiceShare[];
}
export interface ServiceShare {
  name: string;
  spans: number;
  selfMs: number;
  /** Share of all self time, 0 to 1. */
  share: number;
}

export interface View {
  collapsed: ReadonlySet<string>;
  /** Lower-case substring of name, service or span id; "" matches all. */
  query: string;
  /** Shorter spans are hidden unless a descendant matches. */
  minMs: number;
  errorsOnly: boolean;
  /** True: non-matching rows are dimmed instead of hidden. */
  dim: boolean;
}
export interface Rows {
  /** Indices into `nodes`, in display order. */
  rows: number[];
  /** Per node: 1 if the node itself matches the query, duration and error filters. */
  matches: Uint8Array;
  matched: number;
}

export function visibleRows(trace: Trace, view: View): Rows {
  const { nodes } = trace;
  const matches = new Uint8Array(nodes.length);
  const keep = new Uint8Array(nodes.length);
  let matched = 0;
  for (let i = 0; i < nodes.length; i++) {
    if (!isMatch(nodes[i], view)) continue;
    matches[i] = 1;
    matched += 1;
    for (let at = i; at >= 0 && !keep[at]; at = nodes[at].parent) keep[at] = 1;
  }
  const filtering = matched < nodes.length && !view.dim;
  const rows: number[] = [];
  for (let i = 0; i < nodes.length; ) {
    const node = nodes[i];
    if (filtering && !keep[i]) {
      i = node.end;
      continue;
    }
    rows.push(i);
    i = view.collapsed.has(node.span.spanId) ? node.end : i + 1;
  }
  return { rows, matches, matched };
}

function isMatch(node: Node, view: View): boolean {
  if (view.errorsOnly && !node.error) return false;
  if (node.durationMs < view.minMs) return false;
  if (!view.query) return true;
  const { name, serviceName, spanId } = node.span;
  return `${name}\n${serviceName}\n${spanId}`.toLowerCase().includes(view.query);
}
