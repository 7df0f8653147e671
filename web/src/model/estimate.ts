// Counts of sampled data are estimates.
import { percent } from "./format";

/** A weighted count, and the number of stored rows it is estimated from. */
export interface Counted {
  count: number;
  storedCount: number;
}

export const isEstimated = (of: Counted) => of.storedCount > 0 && of.count > of.storedCount;

/** "Estimated from 1 in 10"; null unless a count is estimated. Of several rates: the average. */
export function estimateWords(of: readonly Counted[]): string | null {
  const estimated = of.filter(isEstimated);
  if (!estimated.length) return null;
  const sum = (key: keyof Counted) => estimated.reduce((all, one) => all + one[key], 0);
  const rates = new Set(estimated.map((one) => share(one.storedCount, one.count)));
  const rate = share(sum("storedCount"), sum("count"));
  return rates.size > 1 ? `Estimated, on average from ${rate}` : `Estimated from ${rate}`;
}

/** "1 in 10", or a percentage for more than two in three. */
function share(stored: number, all: number): string {
  const one = all / stored;
  if (one < 1.5) return percent(stored / all);
  return `1 in ${one < 9.95 ? Number(one.toFixed(1)) : Math.round(one).toLocaleString("en-US")}`;
}
