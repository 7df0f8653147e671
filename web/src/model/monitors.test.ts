import { expect, test } from "vitest";
import { dayBars, draftOf, NEW_DRAFT, requestOf, spell, stateWords, targetOf, uptimeText } from "./monitors";
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
  [
    "http",
    {
      url: "https://example.com/health",
      method: "POST",
      headers: { Accept: "a/b", "X-Key": "********" },
      auth: { type: "basic", username: "ada", password: "********" },
      body: "{}",
      bodyContentType: "application/json",
      followRedirects: false,
      skipTlsVerify: true,
      assertions: {
        statusCodes: [200, 204],
        bodyContains: "ok",
        bodyRegex: "^o",
        maxResponseTimeMs: 500,
        tlsMinDaysRemaining: 7,
      },
    },
    "https://example.com/health",
  ],
  [
    "tcp",
    { host: "db", port: 5432, useTls: true, sendPayload: "a", expectContains: "b", tlsMinDaysRemaining: 3 },
    "db:5432",
  ],
  [
    "tls",
    { host: "example.com", port: 443, serverName: "", skipTlsVerify: false, tlsMinDaysRemaining: 14 },
    "example.com:443",
  ],
  ["dns", { name: "example.com", recordType: "MX", expectedValue: "10 mail", server: "" }, "MX example.com"],
  ["heartbeat", { periodSeconds: 3600, graceSeconds: 60 }, "every 1 h"],
  [
    "browser",
    { script: 'await page.goto("https://shop.example/cart");', env: { USER: "********", PASSWORD: "********" } },
    "https://shop.example/cart",
  ],
  ["browser", { script: "await page.goto(env.URL);\nconsole.log(1);\n", env: {} }, "a script of 2 lines"],
];

test.each(CONFIGS)("the form of %s sends what it was filled with", (type, config, target) => {
  const stored = check(type, config);
  expect(requestOf(draftOf(stored))).toEqual({
    name: "Shop",
    checkType: type,
    enabled: true,
    intervalSeconds: 60,
    timeoutSeconds: 10,
    failureThreshold: 3,
    config,
  });
  expect(targetOf(stored)).toBe(target);
});

test("empty fields are no assertions", () => {
  const { config } = requestOf({ ...NEW_DRAFT, name: "a", url: " https://example.com ", headers: "\nA : b\n" });
  expect(config).toMatchObject({
    url: "https://example.com",
    headers: { A: "b" },
    auth: { type: "none" },
    assertions: { statusCodes: [], maxResponseTimeMs: null, tlsMinDaysRemaining: null },
  });
});

test("states have words", () => {
  const words = (enabled: boolean, state: "up" | "down" | "unknown", checkType = "http") =>
    stateWords({ enabled, state, checkType }).word;
  expect([words(true, "up"), words(true, "down"), words(false, "unknown")]).toEqual(["up", "down", "paused"]);
  expect([words(true, "unknown"), words(true, "unknown", "heartbeat")]).toEqual(["not checked yet", "no report yet"]);
});
