import { expect, test } from "vitest";
import { deviceOf, pageOf, traceSearch, userOf } from "./session";
import { shownVitals } from "./vitals";

test("who and what", () => {
  expect(userOf({ userId: "7", attributes: { "user.email": "a@b" } })).toBe("7");
  expect(userOf({ userId: "", attributes: { "user.email": "a@b" } })).toBe("a@b");
  expect(userOf({ userId: "", attributes: {} })).toBe("");
  expect(deviceOf({ browser: "Firefox 140", os: "Linux", attributes: {} })).toBe("Firefox 140 on Linux");
  expect(deviceOf({ browser: "Firefox 140", os: "", attributes: {} })).toBe("Firefox 140");
  const phone = { "os.version": "15", "device.model": "Pixel 9" };
  expect(deviceOf({ browser: "", os: "Android", attributes: phone })).toBe("Android 15 · Pixel 9");
  expect(deviceOf({ browser: "", os: "", attributes: {} })).toBe("");
  expect(pageOf({ screen: "CartScreen" })).toBe("CartScreen");
  expect(pageOf({ screen: "1280x720" })).toBe("");
  expect(pageOf({ "url.full": "https://shop.example/a" })).toBe("/a");
  expect(pageOf({ path: "/cart", url: "https://shop.example/other" })).toBe("/cart");
  expect(pageOf({ url: "https://shop.example/a?b" })).toBe("/a?b");
  expect(pageOf({ url: "https://shop.example" })).toBe("/");
  expect(pageOf({})).toBe("");
});

test("a request is looked for by its path, around its time", () => {
  const at = Date.parse("2026-03-01T09:00:00Z");
  expect(traceSearch({ at, url: "https://shop.example/api/pay?x=1", durationMs: 500 })).toEqual({
    attr: "url.path=/api/pay",
    from: "2026-03-01T08:59:00.000Z",
    to: "2026-03-01T09:01:00.500Z",
    all: true,
  });
});

test("web vitals: the last report, then attributes", () => {
  const reports = [
    { at: 1, name: "LCP", value: 1200 },
    { at: 9, name: "LCP", value: 4100 },
    { at: 5, name: "CLS", value: 0.2 },
  ];
  expect(shownVitals(reports, { "web_vitals.inp": "180", lcp: "3", "web.vitals": "4", ttfb: "slow" })).toEqual([
    { name: "LCP", label: "Largest contentful paint", text: "4.1 s", rating: "poor", at: 9 },
    { name: "INP", label: "Interaction to next paint", text: "180 ms", rating: "good", at: null },
    { name: "CLS", label: "Cumulative layout shift", text: "0.200", rating: "needs improvement", at: 5 },
  ]);
});
