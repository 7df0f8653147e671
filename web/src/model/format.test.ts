import { expect, it } from "vitest";
import {
  brief,
  bytes,
  count,
  durationMs,
  durationRound,
  durationShort,
  percent,
  usd,
  usdRound,
  withUnit,
} from "./format";
import { ago, exactTime, parseNs } from "./time";

it.each([
  [null, "–"],
  [0, "0 ms"],
  [0.0004, "400 ns"],
  [0.87, "870 µs"],
  [12.345, "12.3 ms"],
  [12, "12.0 ms"],
  [120, "120 ms"],
  [99.96, "100 ms"],
  [9.996, "10.0 ms"],
  [999.6, "1.00 s"],
  [1500, "1.50 s"],
  [1514, "1.51 s"],
  [1520, "1.52 s"],
  [59_960, "1 min"],
  [125_000, "2 min 5 s"],
  [3 * 3_600_000, "3 h"],
])("duration %s ms -> %s", (ms, want) => expect(durationMs(ms)).toBe(want));

it.each([
  [12, "12 ms"],
  [1500, "1.5 s"],
  [2000, "2 s"],
])("round duration %s ms -> %s", (ms, want) => expect(durationRound(ms)).toBe(want));
it.each([
  [999, "999 ms"],
  [60_000, "1 min"],
  [100_000, "1.67 min"],
  [9_000_000, "2.5 h"],
  [216_000_000, "2.5 d"],
])("short duration %s ms -> %s", (ms, want) => expect(durationShort(ms)).toBe(want));

it.each([
  [undefined, "–"],
  [1284, "1,284"],
  [0.5, "0.5"],
  [128_400, "128k"],
  [1_300_000, "1.3M"],
])("count %s -> %s", (value, want) => expect(count(value)).toBe(want));

it.each([
  [0, "0 %"],
  [0.00001, "<0.01 %"],
  [0.0234, "2.34 %"],
  [1, "100 %"],
])("percent %s -> %s", (value, want) => expect(percent(value)).toBe(want));

// DECISIONS 12: unknown models are unpriced, never zero.
it.each([
  [null, "–"],
  [0, "$0"],
  [1e-9, "<$0.00000001"],
  [0.00001234, "$0.00001234"],
  [0.0042, "$0.004200"],
  [0.012345, "$0.01235"],
  [0.5, "$0.5000"],
  [1.2346, "$1.235"],
  [84.119, "$84.12"],
  [123.456, "$123.46"],
  [12345.6, "$12,346"],
])("usd %s -> %s", (value, want) => expect(usd(value)).toBe(want));

it.each([
  [0.5, "$0.50"],
  [0.0025, "$0.0025"],
  [10, "$10.00"],
  [0.125, "$0.125"],
  [2000, "$2,000"],
])("round usd %s -> %s", (value, want) => expect(usdRound(value)).toBe(want));

it("formats units", () => {
  expect([withUnit(0.0123, "s"), withUnit(2048, "By"), withUnit(7, "{thread}"), withUnit(7, "requests")]).toEqual([
    "12.3 ms",
    "2 KiB",
    "7",
    "7 requests",
  ]);
  expect(bytes(null)).toBe("–");
});

it("keeps nanoseconds", () => {
  expect(parseNs("2026-06-01T12:05:00.123456789Z")).toBe(1780315500123456789n);
  expect(parseNs("2026-06-01T12:05:00+02:00")).toBe(1780308300000000000n);
  expect(parseNs("soon")).toBeNull();
  expect(exactTime("2026-06-01T12:05:00.123456789Z")).toMatch(/\.123456789$/);
});

it("formats the age", () => {
  const now = Date.parse("2026-06-01T12:00:00Z");
  expect([ago(now - 500, now), ago(now - 4200, now), ago(now - 720_000, now), ago(now - 3 * 3_600_000, now)]).toEqual([
    "just now",
    "4 s ago",
    "12 min ago",
    "3 h ago",
  ]);
});

it("shortens names between characters", () => {
  expect(brief("GET /orders")).toBe("GET /orders");
  expect(brief("x".repeat(200))).toBe(`${"x".repeat(160)}…`);
  expect(brief("ab👩cd", 3)).toBe("ab…");
  expect(brief("ab👩cd", 4)).toBe("ab👩…");
});
