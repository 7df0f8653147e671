// Selection that is explained: a preset, a version, a time, or a box of the heatmap. One URL parameter.
import { quoted } from "./query";
import { parseMs } from "./time";
import type { ChangeCard } from "./types";

/** A time; its end excluded. */
export interface TimeBox {
  fromMs: number;
  toMs: number;
}

/** A box of time and duration; ends excluded. */
export interface Box extends TimeBox {
  fromNs: number;
  toNs: number;
}
export type Selection =
  | { kind: "slow" }
  | { kind: "errors"; time?: TimeBox }
  /** Answered with a status of 400 to 499. */
  | { kind: "refused"; time: TimeBox }
  /** All rows of a time, against as long before it. */
  | { kind: "time"; time: TimeBox }
  | { kind: "version"; version: string }
  | { kind: "box"; box: Box };

const VERSION = "version:";
/** A median absolute deviation times this is the standard deviation of a normal distribution. */
const MAD_TO_DEVIATION = 1.4826;
/** Deviations above the median from which a column is part of a spike. */
const SPIKE_DEVIATIONS = 3;
/** Rows above the median that a column of a spike has at least. */
const SPIKE_ROWS = 5;

/**
 * The selection of a URL parameter: "slow", "errors", "errors:", "refused:" or "time:" and "fromMs,toMs", "version:" and a version,
 * or "fromMs,toMs,fromNs,toNs"; null if it is none.
 */
export function parseSelection(text: string | undefined): Selection | null {
  if (text === "slow" || text === "errors") return { kind: text };
  if (text?.startsWith(VERSION) && text !== VERSION) return { kind: "version", version: text.slice(VERSION.length) };
  const [, kind, rest] = /^(?:(errors|refused|time):)?(.*)$/s.exec(text ?? "") ?? [];
  const numbers = rest.split(",").map(Number);
  const [fromMs, toMs, fromNs, toNs] = numbers;
  if (!numbers.every(Number.isSafeInteger) || fromMs >= toMs) return null;
  if (kind)
    return numbers.length === 2 ? { kind: kind as "errors" | "refused" | "time", time: { fromMs, toMs } } : null;
  return numbers.length === 4 && fromNs < toNs ? { kind: "box", box: { fromMs, toMs, fromNs, toNs } } : null;
}

export function selectionText(selection: Selection): string {
  if (selection.kind === "version") return VERSION + selection.version;
  if (selection.kind === "slow") return selection.kind;
  if (selection.kind !== "box")
    return selection.time ? `${selection.kind}:${selection.time.fromMs},${selection.time.toMs}` : selection.kind;
  const { fromMs, toMs, fromNs, toNs } = selection.box;
  return [fromMs, toMs, fromNs, toNs].join(",");
}

/** The `selection` of a request. `slowNs`: the edge of "slow"; null while there is none. */
export function selectionBody(selection: Selection, slowNs: number | null, isTrace: boolean) {
  const always = { fromDate: null, toDate: null };
  if (selection.kind === "errors")
    return { ...(selection.time ? dates(selection.time) : always), query: isTrace ? "error:true" : "status:error" };
  if (selection.kind === "refused") return { ...dates(selection.time), query: "status>=400 status<500 -status:error" };
  if (selection.kind === "time") return { ...dates(selection.time), query: null };
  if (selection.kind === "slow") return { ...always, query: `duration>=${slowNs ?? 0}ns` };
  if (selection.kind === "version") return { ...always, query: `version:${quoted(selection.version)}` };
  return { ...dates(selection.box), query: `duration>=${selection.box.fromNs}ns duration<${selection.box.toNs}ns` };
}

function dates({ fromMs, toMs }: TimeBox) {
  return { fromDate: new Date(fromMs).toISOString(), toDate: new Date(toMs).toISOString() };
}

/** Longer than any duration, in nanoseconds: 104 days. */
export const LONGEST_NS = Number.MAX_SAFE_INTEGER;

/** The rows that got worse with a change, up to `nowMs` while it lasts; null when there is nothing to explain. */
export function changeSelection(
  card: Pick<ChangeCard, "kind" | "effects" | "since" | "recovered" | "slowMs">,
  nowMs: number,
): Selection | null {
  const worst = card.effects[0]?.metric;
  if (!worst || worst === "calls" || card.kind === "service" || card.kind === "issue") return null;
  const fromMs = parseMs(card.since);
  const time = { fromMs, toMs: Math.max(card.recovered ? parseMs(card.recovered) : nowMs, fromMs + 60_000) };
  if (worst === "error_rate") return { kind: "errors", time };
  if (worst === "refused_share") return { kind: "refused", time };
  if (worst === "cost" || !card.slowMs) return { kind: "time", time };
  return { kind: "box", box: { ...time, fromNs: Math.round(card.slowMs * 1e6), toNs: LONGEST_NS } };
}

/** Cells of time and duration as `/api/heatmap` answers them. */
interface Cells {
  startMs: number;
  columnMs: number;
  columns: number;
  rows: { fromNs: number; toNs: number }[];
  cells: { column: number; row: number; count: number }[];
  /** The least duration of a slow row; null while there is none. */
  slowNs: number | null;
}

/**
 * The box of the columns in a row that have the most slow rows above the ordinary: each has more than the median and
 * three deviations. Null when there are none, or when all time is so.
 */
export function spikeOf({ startMs, columnMs, columns, rows, cells, slowNs }: Cells): Box | null {
  if (slowNs === null || columns < 3) return null;
  const slow = new Array<number>(columns).fill(0);
  for (const cell of cells) if (rows[cell.row].fromNs >= slowNs) slow[cell.column] += cell.count;
  const middle = median(slow);
  const deviation = MAD_TO_DEVIATION * median(slow.map((count) => Math.abs(count - middle)));
  const least = middle + Math.max(SPIKE_DEVIATIONS * deviation, SPIKE_ROWS);
  let best = { from: 0, to: 0, excess: 0 };
  let run = best;
  slow.forEach((count, column) => {
    if (count < least) return;
    const before = run.to === column ? run : { from: column, excess: 0 };
    run = { from: before.from, to: column + 1, excess: before.excess + count - middle };
    if (run.excess > best.excess) best = run;
  });
  if (best.excess === 0 || best.to - best.from === columns) return null;
  return {
    fromMs: startMs + best.from * columnMs,
    toMs: startMs + best.to * columnMs,
    fromNs: slowNs,
    toNs: Math.max(...rows.map((row) => row.toNs)),
  };
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Step 0 to 5 of a count: equal steps of its logarithm. */
export function heatStep(count: number, greatest: number): number {
  if (greatest <= 1) return 5;
  return Math.min(5, Math.floor((6 * Math.log1p(count)) / Math.log1p(greatest)));
}
