import { expect, it } from "vitest";
import {
  flaggedTerms,
  healthcheckPaths,
  isHiddenToken,
  limitText,
  megabytesText,
  origins,
  quotaLimit,
  quotaMegabytes,
  ratePercent,
  retentionDays,
  retentionText,
  sampleRate,
} from "./project-settings";

it.each([
  ["/healthz\n/ready\n\n/healthz ", "/healthz,/ready", null],
  ["", "", null],
  ["healthz", "healthz", "“healthz” is no path"],
  ["/a b", "/a b", "is no path"],
  ["/\n/probe/*\n*/probe\n*probe*", "/,/probe/*,*/probe,*probe*", null],
  ["*", "*", "is no path"],
  ["/*", "/*", "is no path"],
  ["/a*b", "/a*b", "is no path"],
])("paths %j", (text, want, problem) => {
  const { paths, error } = healthcheckPaths(text);
  expect(paths.join()).toBe(want);
  if (problem) expect(error).toContain(problem);
  else expect(error).toBeNull();
});

// WIRE 8.3: custom terms; the server's rule is in `rules/content_terms`.
it.each([
  ["Kraken\n kraken \nRelease-Plan\n", ["kraken", "release plan"], null],
  ["", [], null],
  ["--", [""], "is no term"],
  ["a b c d e f g h i", ["a b c d e f g h i"], "is no term"],
  [Array.from({ length: 201 }, (_, i) => `t${i}`).join("\n"), null, "201"],
])("terms %j", (text, want, problem) => {
  const { terms, error } = flaggedTerms(text);
  if (want) expect(terms).toEqual(want);
  if (problem) expect(error).toContain(problem);
  else expect(error).toBeNull();
});

// WIRE 5.6: healthcheckPaths[<=50].
it("accepts 50 paths and rejects 51", () => {
  const lines = (count: number) => Array.from({ length: count }, (_, i) => `/p${i}`).join("\n");
  expect(healthcheckPaths(lines(50)).error).toBeNull();
  expect(healthcheckPaths(lines(51)).error).toContain("51");
  expect(healthcheckPaths(Array.from({ length: 30 }, (_, i) => `/${i}${"a".repeat(180)}`).join("\n")).error).toContain(
    "4096",
  );
});

it.each([
  ["", 0],
  ["30", 30],
  ["3650", 3650],
  ["3651", null],
  ["0", null],
  ["1.5", null],
  ["a month", null],
])("retention %j: %j", (text, want) => {
  expect(retentionDays(text)).toBe(want);
  if (want !== null) expect(retentionText(want)).toBe(text);
});

it.each([
  ["100", 1],
  ["12.5", 0.125],
  ["0", 0],
  ["", null],
  ["101", null],
  ["-1", null],
])("rate %j: %j", (text, want) => expect(sampleRate(text)).toBe(want));

it("0.07 is shown as 7", () => expect(ratePercent(0.07)).toBe("7"));

it("a masked token is detected", () => {
  expect(isHiddenToken("read-only-hidden-token")).toBe(true);
  expect(isHiddenToken("9f2c51e07ab94c0f8d1e3a7b6c5d4e3f")).toBe(false);
});

it.each([
  ["", 0, 0],
  [" ", 0, 0],
  ["1", 1, 1048576],
  ["1.5", null, 1572864],
  ["0", null, null],
  ["-1", null, null],
  ["many", null, null],
  ["1e30", null, null],
])("limits %j", (text, records, bytes) => {
  expect(quotaLimit(text)).toBe(records);
  expect(quotaMegabytes(text)).toBe(bytes);
});

it("a limit is shown as it was entered", () => {
  expect([limitText(0), limitText(undefined), limitText(7)]).toEqual(["", "", "7"]);
  expect([megabytesText(0), megabytesText(1572864)]).toEqual(["", "1.5"]);
});

it.each([
  ["https://shop.example\n\n https://*.shop.example ", "https://shop.example,https://*.shop.example", null],
  ["", "", null],
  ["shop.example", "shop.example", "“shop.example” is no origin"],
  ["https://shop.example/page", "https://shop.example/page", "is no origin"],
  [Array.from({ length: 51 }, (_, n) => `https://a${n}.example`).join("\n"), null, "At most 50"],
])("origins %j", (text, want, problem) => {
  const { list, error } = origins(text);
  if (want !== null) expect(list.join()).toBe(want);
  if (problem) expect(error).toContain(problem);
  else expect(error).toBeNull();
});
