import { expect, it } from "vitest";
import { absolute, labelRange, resolveRange, shift, widen } from "./range";

const NOW = Date.parse("2026-06-01T12:00:00Z");
const iso = (ms: number) => new Date(ms).toISOString();

it.each([
  ["now-1h", "now", "2026-06-01T11:00:00.000Z", "2026-06-01T12:00:00.000Z"],
  ["now-90m", "now-30m", "2026-06-01T10:30:00.000Z", "2026-06-01T11:30:00.000Z"],
  ["2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z", "2026-05-01T00:00:00.000Z", "2026-05-02T00:00:00.000Z"],
  // swapped bounds are reordered
  ["now", "now-1d", "2026-05-31T12:00:00.000Z", "2026-06-01T12:00:00.000Z"],
  // invalid text falls back to the last 24 hours
  ["banana", "1e9 apples", "2026-05-31T12:00:00.000Z", "2026-06-01T12:00:00.000Z"],
])("%s to %s", (from, to, wantFrom, wantTo) => {
  const span = resolveRange({ from, to }, NOW);
  expect([iso(span.fromMs), iso(span.toMs)]).toEqual([wantFrom, wantTo]);
});

it("labels presets and other lengths", () => {
  expect(labelRange({ from: "now-24h", to: "now" })).toBe("Last 24 hours");
  expect(labelRange({ from: "now-90m", to: "now" })).toBe("Last 90 minutes");
});

it("never moves past now", () => {
  const span = { fromMs: NOW - 1000, toMs: NOW };
  expect(shift(span, 1, NOW)).toEqual(span);
  expect(widen(span, NOW)).toEqual({ fromMs: NOW - 2000, toMs: NOW });
  expect(shift(span, -1, NOW)).toEqual({ fromMs: NOW - 2000, toMs: NOW - 1000 });
});

it("rounds outwards when a zoom becomes absolute", () => {
  expect(absolute({ fromMs: NOW + 0.4, toMs: NOW + 0.6 })).toEqual({ from: iso(NOW), to: iso(NOW + 1) });
});
