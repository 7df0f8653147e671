// What is explained: a preset, a version, or a box of the heatmap. One URL parameter.
import { quoted } from "./query";

/** A box of time and duration; ends excluded. */
export interface Box {
  fromMs: number;
  toMs: number;
  fromNs: number;
  toNs: number;
}
export type Selection =
  | { kind: "slow" }
  | { kind: "errors" }
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
 * The selection of a URL parameter: "slow", "errors", "version:" and a version, or "fromMs,toMs,fromNs,toNs"; null if
 * it is none.
 */
export function parseSelection(text: string | undefined): Selection | null {
  if (text === "slow" || text === "errors") return { kind: text };
  if (text?.startsWith(VERSION) && text !== VERSION) return { kind: "version", version: text.slice(VERSION.length) };
  const numbers = (text ?? "").split(",").map(Number);
  const [fromMs, toMs, fromNs, toNs] = numbers;
  if (numbers.length !== 4 || !numbers.every(Number.isSafeInteger) || fromMs >= toMs || fromNs >= toNs) return null;
  return { kind: "box", box: { fromMs, toMs, fromNs, toNs } };
}

export function selectionText(selection: Selection): string {
  if (selection.kind === "version") return VERSION + selection.version;
  if (selection.kind !== "box") return selection.kind;
  const { fromMs, toMs, fromNs, toNs } = selection.box;
  return [fromMs, toMs, fromNs, toNs].join(",");
}

/** The `selection` of a request. `slowNs`: the edge of "slow"; null while there is none. */
export function selectionBody(selection: Selection, slowNs: number | null, isTrace: boolean) {
  const always = { fromDate: null, toDate: null };
  if (selection.kind === "errors") return { ...always, query: isTrace ? "error:true" : "status:error" };
  if (selection.kind === "slow") return { ...always, query: `duration>=${slowNs ?? 0}ns` };
  if (selection.kind === "version") return { ...always, query: `version:${quoted(selection.version)}` };
  const { fromMs, toMs, fromNs, toNs } = selection.box;
  return {
    query: `duration>=${fromNs}ns duration<${toNs}ns`,
    fromDate: new Date(fromMs).toISOString(),
    toDate: new Date(toMs).toISOString(),
  };
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
