// Maps sparse points to one slot per interval, so that a gap in the data is a gap in the chart.

/** Interval starts (ms), ascending, from the bucket of `fromMs` to the bucket of `toMs`; at most `most`. */
export function slots(fromMs: number, toMs: number, intervalMs: number, most = 2500): number[] {
  const first = Math.floor(fromMs / intervalMs) * intervalMs;
  const out: number[] = [];
  for (let at = first; at < toMs && out.length < most; at += intervalMs) out.push(at);
  return out.length ? out : [first];
}

/** Values aligned to `starts`; null for slots without a measurement. Points of the same slot are summed. */
export function align(
  starts: number[],
  points: { ms: number; value: number }[],
  intervalMs: number,
): (number | null)[] {
  const out: (number | null)[] = starts.map(() => null);
  const origin = starts[0];
  for (const point of points) {
    const at = Math.floor((point.ms - origin) / intervalMs + 1e-9);
    if (at >= 0 && at < out.length) out[at] = (out[at] ?? 0) + point.value;
  }
  return out;
}

/** Ticks at round values for 0..max; the last tick is the axis maximum. Only a zero if max is 0. */
export function niceTicks(max: number, wanted = 3): number[] {
  if (!(max > 0)) return [0];
  const rough = max / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const ticks: number[] = [];
  for (let value = 0; value < max + step * 0.999; value += step) ticks.push(Number(value.toPrecision(12)));
  return ticks;
}

const DURATION_STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400,
].map((s) => s * 1000);

/** Ticks of an axis in milliseconds; long axes have ticks at round seconds, minutes and hours. */
export function durationTicks(maxMs: number, wanted = 3): number[] {
  const step = maxMs / wanted >= 1000 ? DURATION_STEPS.find((one) => one >= maxMs / wanted) : undefined;
  if (!step) return niceTicks(maxMs, wanted);
  const ticks: number[] = [];
  for (let value = 0; value < maxMs + step * 0.999; value += step) ticks.push(value);
  return ticks;
}

/** Whether any slot of any line has a value, zero included. */
export function hasValues(lines: { values: (number | null | undefined)[] }[]): boolean {
  return lines.some((line) => line.values.some((value) => value !== null && value !== undefined));
}
