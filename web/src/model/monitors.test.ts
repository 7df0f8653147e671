import { expect, test } from "vitest";
import { dayBars, spell, stateWords, targetOf, uptimeText } from "./monitors";
import type { Check } from "./types";

test.each([
  [30, "30 s"],
  [90, "90 s"],
  [60, "1 min"],
  [3600, "1 h"],
  [86_400, "1 d"],
  [90_000, "25 h"],
])("%i seconds are %s", (seconds, expected) => expect(spell(seconds)).toBe(expected));

test.each([
  [null, "–"],
  [undefined, "–"],
  [100, "100 %"],
  [99.999, "99.99 %"],
  [0, "0 %"],
  [97.5, "97.50 %"],
])("an uptime of %s is %s", (percent, expected) => expect(uptimeText(percent)).toBe(expected));

test("days are bars: good, somewhat bad, bad, not checked", () => {
  const day = (bucket: string, total: number, up: number, missed = 0) => ({ bucket, total, up, missed });
  const bars = dayBars(
    [
      day("2026-05-30T00:00:00Z", 100, 100),
      day("2026-05-31T00:00:00Z", 110, 97, 10),
      day("2026-06-01T00:00:00Z", 10, 5),
      day("2026-05-29T00:00:00Z", 5, 0, 5),
    ],
    Date.parse("2026-06-01T12:00:00Z"),
    5,
  );
  expect(bars.map((bar) => bar.tone)).toEqual(["none", "none", "ok", "warn", "error"]);
  expect(bars[3].words).toBe("2026-05-31: 97.00 % of 100 checks good");
  expect(bars[0]).toEqual({ day: "2026-05-28", tone: "none", words: "2026-05-28: not checked" });
});

const check = (checkType: string, config: Record<string, unknown>): Check => ({
  id: 1,
  name: "Shop",
  checkType,
  enabled: true,
  intervalSeconds: 60,
  timeoutSeconds: 10,
  failureThreshold: 3,
  config,
  state: "up",
  stateSince: "2026-06-01T12:00:00Z",
  failures: 0,
  lastPingAt: null,
  createdAt: "2026-06-01T12:00:00Z",
  updatedAt: "2026-06-01T12:00:00Z",
  problem: null,
});

const CONFIGS: [string, Record<string, unknown>, string][] = [
  ["http", { url: "https://example.com/health" }, "https://example.com/health"],
  ["tcp", { host: "db", port: 5432 }, "db:5432"],
  ["tls", { host: "example.com", port: 443 }, "example.com:443"],
  ["dns", { name: "example.com", recordType: "MX" }, "MX example.com"],
  ["heartbeat", { periodSeconds: 3600, graceSeconds: 60 }, "every 1 h"],
  ["browser", { script: 'await page.goto("https://shop.example/cart");' }, "https://shop.example/cart"],
  ["browser", { script: "await page.goto(env.URL);\nconsole.log(1);\n" }, "a script of 2 lines"],
];

test.each(CONFIGS)("the target of %s is one line", (type, config, target) =>
  expect(targetOf(check(type, config))).toBe(target),
);

test("states have words", () => {
  const words = (enabled: boolean, state: "up" | "down" | "unknown", checkType = "http") =>
    stateWords({ enabled, state, checkType }).word;
  expect([words(true, "up"), words(true, "down"), words(false, "unknown")]).toEqual(["up", "down", "paused"]);
  expect([words(true, "unknown"), words(true, "unknown", "heartbeat")]).toEqual(["not checked yet", "no report yet"]);
});
