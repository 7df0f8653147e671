// The map of services: places of nodes in layers, widths and colours of edges, and the words and searches of both.
import { count, percent, plural } from "./format";
import { termOf } from "./query";

export type NodeKind = "service" | "database" | "messaging" | "host";
export interface CallStats {
  calls: number;
  errors: number;
  perMinute: number;
  p50Duration?: number | null;
  p95Duration?: number | null;
}
export interface MapNode {
  id: string;
  kind: NodeKind;
  name: string;
  stats: CallStats;
  versions: number;
}
export interface MapEdge {
  from: string;
  to: string;
  stats: CallStats;
}

export const KIND_WORDS: Record<NodeKind, string> = {
  service: "Service",
  database: "Database",
  messaging: "Queue or topic",
  host: "External host",
};

/** Column and row of a node; rows of a column are consecutive from 0. */
export interface Place {
  column: number;
  row: number;
}

/** Rounds of ordering; more change little. */
const ROUNDS = 8;

/**
 * Places nodes in layers: each node right of the nodes that call it, except along edges that close a circle. Nodes
 * without edges come last, in as many columns as the others have. The result depends only on the order of the nodes.
 */
export function layOut(nodes: { id: string }[], edges: { from: string; to: string }[]): Map<string, Place> {
  const ids = nodes.map((node) => node.id);
  const known = new Set(ids);
  const at = new Map(ids.map((id, index) => [id, index]));
  const index = (id: string) => at.get(id) ?? 0;
  const calls = edges
    .filter((edge) => edge.from !== edge.to && known.has(edge.from) && known.has(edge.to))
    .sort((a, b) => index(a.from) - index(b.from) || index(a.to) - index(b.to));
  const ends = new Set(calls.flatMap((call) => [call.from, call.to]));
  const linked = ids.filter((id) => ends.has(id));
  const forward = withoutCircles(linked, calls);
  const columns = columnsOf(linked, forward);
  const layers: string[][] = [];
  for (const id of linked) {
    const column = columns.get(id) ?? 0;
    layers[column] = [...(layers[column] ?? []), id];
  }
  order(layers, forward);
  const places = new Map<string, Place>();
  layers.forEach((layer, column) => {
    layer.forEach((id, row) => {
      places.set(id, { column, row });
    });
  });
  const width = Math.max(layers.length, 3);
  const below = Math.max(0, ...layers.map((layer) => layer.length));
  ids
    .filter((id) => !places.has(id))
    .forEach((id, index) => {
      places.set(id, { column: index % width, row: below + Math.floor(index / width) });
    });
  return places;
}

type Call = { from: string; to: string };

/** The calls of each node at one of their ends. */
function callsBy(end: "from" | "to", ids: string[], calls: Call[]): Map<string, Call[]> {
  const found = new Map<string, Call[]>(ids.map((id) => [id, []]));
  for (const call of calls) found.get(call[end])?.push(call);
  return found;
}

/** The edges without those that lead back to a node on the way to them. */
function withoutCircles(ids: string[], calls: Call[]): Call[] {
  const next = callsBy("from", ids, calls);
  const called = new Set(calls.map((call) => call.to));
  const state = new Map<string, "open" | "done">();
  const kept: Call[] = [];
  // Callers that nothing calls begin. An explicit stack: chains may be long.
  for (const start of [...ids.filter((id) => !called.has(id)), ...ids]) {
    if (state.has(start)) continue;
    state.set(start, "open");
    const path = [{ id: start, at: 0 }];
    while (path.length) {
      const top = path[path.length - 1];
      const call = next.get(top.id)?.[top.at++];
      if (!call) {
        state.set(top.id, "done");
        path.pop();
      } else if (state.get(call.to) !== "open") {
        kept.push(call);
        if (!state.has(call.to)) {
          state.set(call.to, "open");
          path.push({ id: call.to, at: 0 });
        }
      }
    }
  }
  return kept;
}

/** The length of the longest way to each node. */
function columnsOf(ids: string[], forward: Call[]): Map<string, number> {
  const columns = new Map(ids.map((id) => [id, 0]));
  const waiting = new Map(ids.map((id) => [id, 0]));
  for (const call of forward) waiting.set(call.to, (waiting.get(call.to) ?? 0) + 1);
  const ready = ids.filter((id) => !waiting.get(id));
  const next = callsBy("from", ids, forward);
  for (let at = 0; at < ready.length; at++)
    for (const call of next.get(ready[at]) ?? []) {
      columns.set(call.to, Math.max(columns.get(call.to) ?? 0, (columns.get(ready[at]) ?? 0) + 1));
      const left = (waiting.get(call.to) ?? 0) - 1;
      waiting.set(call.to, left);
      if (left === 0) ready.push(call.to);
    }
  return columns;
}

/** Orders each layer by the middle of the neighbours in the layers before or after it, so that fewer edges cross. */
function order(layers: string[][], calls: Call[]) {
  const rows = new Map<string, number>();
  const all = layers.flat();
  const [before, after] = [callsBy("to", all, calls), callsBy("from", all, calls)];
  const note = (layer: string[]) => {
    layer.forEach((id, row) => {
      rows.set(id, row);
    });
  };
  layers.forEach(note);
  for (let round = 0; round < ROUNDS; round++) {
    const down = round % 2 === 0;
    const middle = (id: string) => {
      const beside = ((down ? before : after).get(id) ?? []).map((call) => (down ? call.from : call.to));
      if (!beside.length) return rows.get(id) ?? 0;
      return beside.reduce((sum, other) => sum + (rows.get(other) ?? 0), 0) / beside.length;
    };
    for (const layer of down ? layers : layers.toReversed()) {
      const middles = new Map(layer.map((id) => [id, middle(id)]));
      layer.sort((a, b) => (middles.get(a) ?? 0) - (middles.get(b) ?? 0) || (rows.get(a) ?? 0) - (rows.get(b) ?? 0));
      note(layer);
    }
  }
}

/** Failed calls of all calls; 0 without calls. */
export function errorRate({ calls, errors }: Pick<CallStats, "calls" | "errors">): number {
  return calls ? errors / calls : 0;
}

/** Level of a share of errors. */
export function errorLevel(stats: Pick<CallStats, "calls" | "errors">): "ok" | "warn" | "error" {
  const rate = errorRate(stats);
  return rate >= 0.05 ? "error" : rate > 0 ? "warn" : "ok";
}

/** Width of an edge in pixels: 1.25 to 7, by the logarithm of its calls. */
export function edgeWidth(calls: number, most: number): number {
  return most > 1 ? 1.25 + (5.75 * Math.log(Math.max(1, calls))) / Math.log(most) : 1.25;
}

/** "web calls cart 120 times (4 per minute), 2 % errors". */
export function edgeWords(from: MapNode, to: MapNode, stats: CallStats): string {
  const verb = from.kind === "messaging" ? "delivers to" : to.kind === "messaging" ? "sends to" : "calls";
  const errors = stats.errors ? `, ${percent(errorRate(stats))} errors` : "";
  const rate = isRated(stats) ? ` (${perMinute(stats)})` : "";
  return `${shown(from)} ${verb} ${shown(to)} ${plural(stats.calls, "time")}${rate}${errors}`;
}

/** Calls of a shorter time are told as a number: a rate would be extrapolated. */
const RATED_MINUTES = 5;

function isRated({ calls, perMinute }: Pick<CallStats, "calls" | "perMinute">): boolean {
  // The rate is a rounded double.
  return perMinute === 0 || calls / perMinute >= RATED_MINUTES - 0.01;
}

/** "120 per minute"; of rare calls "3 per hour"; of less than five minutes "12 calls". */
export function perMinute(stats: Pick<CallStats, "calls" | "perMinute">): string {
  if (!isRated(stats)) return plural(stats.calls, "call");
  if (stats.perMinute === 0 || stats.perMinute >= 1) return `${rate(stats.perMinute)}/min`;
  return stats.perMinute * 60 >= 1 ? `${rate(stats.perMinute * 60)}/h` : `${rate(stats.perMinute * 1440)}/d`;
}

function rate(value: number): string {
  return value < 10 && value % 1 ? value.toFixed(1) : count(Math.round(value));
}

/** Display name of a node. */
export function shown({ name, kind }: Pick<MapNode, "name" | "kind">): string {
  return name || (kind === "service" ? "no service name" : "unknown");
}

/** The search for traces with calls of an edge. */
export function edgeSearch(from: MapNode, to: MapNode): string {
  const service = (node: MapNode) => termOf("service", node.name);
  if (from.kind === "service" && to.kind === "service") return `{${service(from)}} > {${service(to)}}`;
  const [own, other] = from.kind === "service" ? [from, to] : [to, from];
  return `{${service(own)} ${termOf("peer", other.name)}}`;
}
