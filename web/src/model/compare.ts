// Comparisons of two periods. Never a percentage on fewer than 20 samples.
import type { Span } from "./range";

export const SAMPLES_MIN = 20;

/** The relative change of a value; null without a base, or with fewer than 20 samples on either side. */
export function relativeChange(now: number, before: number, samples: number, samplesBefore: number): number | null {
  if (samples < SAMPLES_MIN || samplesBefore < SAMPLES_MIN || !(before > 0)) return null;
  return now / before - 1;
}

/** "20 % more than before", "3.2 times as much as before", "35 % less than before". */
export function changeWords(change: number): string {
  if (Math.abs(change) < 0.005) return "as much as before";
  if (change >= 1) return `${Number((change + 1).toPrecision(2))} times as much as before`;
  return `${Math.max(1, Math.round(Math.abs(change) * 100))} % ${change > 0 ? "more" : "less"} than before`;
}

/** "+20 %", "−35 %", "×3.2". */
export function changeSign(change: number): string {
  if (change >= 1) return `×${Number((change + 1).toPrecision(2))}`;
  const percent = Math.round(Math.abs(change) * 100);
  if (!percent) return "±0 %";
  return `${change > 0 ? "+" : "−"}${percent} %`;
}

/** Baselines of a page's comparison, in the URL. */
export const COMPARISONS = ["previous", "week"] as const;
export type Comparison = (typeof COMPARISONS)[number];

const WEEK_MS = 7 * 86_400_000;

/** Distance of the compared time: the length of the range, or whole weeks, at least as long. */
export function shiftOf(comparison: Comparison, span: Span): number {
  const length = Math.max(1, span.toMs - span.fromMs);
  return comparison === "week" ? Math.ceil(length / WEEK_MS) * WEEK_MS : length;
}
