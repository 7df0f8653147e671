// Number formats. `null` is "–", never 0.

export const NONE = "–";

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** 1284 -> "1,284"; 100,000 and above: "128k", "1.3M". */
export function count(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  const size = Math.abs(value);
  if (size < 100_000) return size % 1 === 0 || size >= 100 ? whole.format(value) : String(Number(value.toPrecision(3)));
  for (const [limit, unit] of [
    [1e12, "T"],
    [1e9, "B"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    if (size >= limit) return `${trim(value / limit)}${unit}`;
  }
  return whole.format(value);
}

/** Three significant digits, trailing zeros kept. */
function three(value: number): string {
  const digits = Math.abs(value) >= 99.95 ? 0 : Math.abs(value) >= 9.995 ? 1 : 2;
  return value.toFixed(digits);
}

/** Three significant digits without trailing zeros. */
function trim(value: number): string {
  return String(Number(three(value)));
}

/** Nanoseconds -> "12.3 ms". */
export function durationNs(ns: number | null | undefined): string {
  return ns === null || ns === undefined ? NONE : durationMs(ns / 1e6);
}

/** Milliseconds -> "870 µs", "12.0 ms", "1.50 s", "2 min 5 s", "3 h 4 min": constant precision for columns. */
export function durationMs(ms: number | null | undefined): string {
  return durationOf(ms, three);
}

/** Like `durationMs`, without trailing zeros: "12 ms", "1.5 s". For axes and options, whose values are round. */
export function durationRound(ms: number | null | undefined): string {
  return durationOf(ms, trim);
}

/** Like `durationRound` with one unit: "1.67 min", "2.5 h". For labels of narrow axes whose values are not round. */
export function durationShort(ms: number): string {
  if (Math.abs(ms) < 59_950) return durationRound(ms);
  const [size, unit] = ms < 3_600_000 ? [60_000, "min"] : ms < 86_400_000 ? [3_600_000, "h"] : [86_400_000, "d"];
  return `${trim(ms / size)} ${unit}`;
}

function durationOf(ms: number | null | undefined, digits: (value: number) => string): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return NONE;
  const size = Math.abs(ms);
  if (size === 0) return "0 ms";
  if (size < 0.001) return `${trim(ms * 1e6)} ns`;
  if (size < 0.9995) return `${digits(ms * 1000)} µs`;
  if (size < 999.5) return `${digits(ms)} ms`;
  if (size < 59_950) return `${digits(ms / 1000)} s`;
  if (size < 60_000) return "1 min";
  if (size < 3_600_000) return pair(ms, 60_000, "min", 1000, "s");
  if (size < 86_400_000) return pair(ms, 3_600_000, "h", 60_000, "min");
  return pair(ms, 86_400_000, "d", 3_600_000, "h");
}

function pair(ms: number, big: number, bigUnit: string, small: number, smallUnit: string): string {
  const first = Math.floor(ms / big);
  const second = Math.floor((ms - first * big) / small);
  return second ? `${first} ${bigUnit} ${second} ${smallUnit}` : `${first} ${bigUnit}`;
}

/** 0.0234 -> "2.34 %"; smaller nonzero values are "<0.01 %". */
export function percent(ratio: number | null | undefined): string {
  if (ratio === null || ratio === undefined || !Number.isFinite(ratio)) return NONE;
  if (ratio === 0) return "0 %";
  if (ratio < 0.0001) return "<0.01 %";
  return `${trim(ratio * 100)} %`;
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return NONE;
  if (value < 1024) return `${value} B`;
  if (value < 1024 ** 2) return `${trim(value / 1024)} KiB`;
  if (value < 1024 ** 3) return `${trim(value / 1024 ** 2)} MiB`;
  return `${trim(value / 1024 ** 3)} GiB`;
}

/** US dollars: "$0.001234", "$84.12", "$1,284". Four significant digits below $1. Null (unpriced) is "–". */
export function usd(value: number | null | undefined): string {
  if (value === null || value === undefined) return NONE;
  if (value === 0) return "$0";
  const size = Math.abs(value);
  if (size >= 1000) return `$${whole.format(value)}`;
  if (size < 1e-8) return "<$0.00000001";
  return `$${value.toFixed(Math.max(2, 3 - Math.floor(Math.log10(size))))}`;
}

/** Like `usd`, without trailing zeros after the cents: "$0.50", "$0.0025". For axes. */
export function usdRound(value: number): string {
  return usd(value).replace(/(\.\d\d\d*?)0+$/, "$1");
}

/** The beginning of a name or message that a sender chose. Pages show all of it in a title. */
export function brief(text: string, most = 160): string {
  if (text.length <= most) return text;
  // No half of a surrogate pair.
  return `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Score from 0 to 1 with two decimals. */
export function score(value: number | null | undefined): string {
  return value === null || value === undefined ? NONE : value.toFixed(2);
}

/** Formats a value with its OpenTelemetry unit if the unit is known. */
export function withUnit(value: number, unit: string, duration = durationMs): string {
  if (unit === "ms") return duration(value);
  if (unit === "s") return duration(value * 1000);
  if (unit === "ns") return duration(value / 1e6);
  if (unit === "us" || unit === "µs") return duration(value / 1000);
  if (unit === "By") return bytes(Math.round(value));
  if (unit === "%" || unit === "percent") return `${trim(value)} %`;
  const plain = count(value);
  return !unit || unit === "1" || unit.startsWith("{") ? plain : `${plain} ${unit}`;
}
