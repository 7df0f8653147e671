import { expect, test } from "vitest";
import { instant, readSegment } from "./segment";

const T = Date.parse("2026-03-01T09:00:00Z");

test.each([
  ["2026-03-01T09:00:00.000Z", T],
  ["2026-03-01T10:00:00+01:00", T],
  [T, T],
  [String(T), T],
  [T / 1000, T],
  [T * 1000, T],
  [T * 1e6, T],
  ["yesterday", Number.NaN],
  [0, Number.NaN],
  [-5, Number.NaN],
  [null, Number.NaN],
  [{}, Number.NaN],
])("instant %s", (value, expected) => {
  expect(instant(value)).toBe(expected);
});

// WIRE 1.8, "Session open + segment (web)".
test("a web segment", () => {
  const segment = readSegment({
    sessionId: "4b0e6a5c-2a7d-4f2e-9a0b-aabbccddeeff",
    segmentIndex: 3,
    events: [
      { type: 4, data: { href: "https://shop.example/cart", width: 800, height: 600 }, timestamp: T },
      { type: 2, data: { node: {} }, timestamp: T + 1 },
      { type: 3, data: { source: 0 }, timestamp: T + 100 },
      { type: 3, data: { source: 1, positions: [] }, timestamp: T + 400 },
      { type: 3, data: { source: 2, type: 2, id: 7 }, timestamp: T + 300 },
      { type: 3, data: { source: 2, type: 1, id: 7 }, timestamp: T + 250 },
      { type: 5, data: { tag: "web-vital", payload: { name: "LCP", value: 1200 } }, timestamp: T + 500 },
    ],
    logs: [
      { type: "log", timestamp: "2026-03-01T09:00:02.000Z", level: "warn", message: "slow" },
      { type: "log", timestamp: "never", level: "warn", message: "lost" },
      { timestamp: "2026-03-01T09:00:03Z", message: { a: 1 } },
    ],
    actions: [
      {
        type: "network",
        timestamp: "2026-03-01T09:00:03.000Z",
        method: "get",
        url: "/api/books",
        durationMs: 42,
        statusCode: 200,
      },
      {
        type: "network",
        timestamp: "2026-03-01T09:00:04.000Z",
        method: "POST",
        url: "/api/pay",
        durationMs: 9,
        statusCode: 0,
        error: "TypeError",
      },
      { type: "navigation", timestamp: "2026-03-01T09:00:05.000Z", action: "push", from: "/", to: "/cart" },
      { type: "custom", timestamp: "2026-03-01T09:00:06.000Z", category: "checkout", name: "paid", data: { sum: 3 } },
      {
        type: "custom",
        timestamp: "2026-03-01T09:00:07.000Z",
        category: "web-vitals",
        name: "CLS",
        data: { value: 0.02 },
      },
    ],
    startedAt: "2026-03-01T09:00:00.000Z",
    endedAt: "2026-03-01T09:00:30.000Z",
  });
  expect(segment).toMatchObject({ index: 3, startMs: T, endMs: T + 30_000, events: 7, hasSnapshot: true });
  expect(segment.activity).toEqual([T + 250, T + 300, T + 400]);
  expect(segment.clicks).toEqual([{ at: T + 300, label: "" }]);
  expect(segment.logs).toEqual([
    { at: T + 2000, level: "warn", message: "slow" },
    { at: T + 3000, level: "info", message: '{"a":1}' },
  ]);
  expect(segment.network.map(({ method, status, error }) => [method, status, error])).toEqual([
    ["GET", 200, ""],
    ["POST", null, "TypeError"],
  ]);
  expect(segment.navigation.map(({ action, to }) => `${action} ${to}`)).toEqual([
    "load https://shop.example/cart",
    "push /cart",
  ]);
  expect(segment.actions).toEqual([{ at: T + 6000, category: "checkout", name: "paid", data: '{"sum":3}' }]);
  expect(segment.vitals).toEqual([
    { at: T + 500, name: "LCP", value: 1200 },
    { at: T + 7000, name: "CLS", value: 0.02 },
  ]);
});

// WIRE 1.9: Flutter sends MP4 files without times of their own.
test("MP4 chunks follow each other", () => {
  const chunk = { type: "flutter_video", data: "AAAA", format: "mp4", fps: 8, durationSeconds: 4.5 };
  const segment = readSegment({
    events: [chunk, chunk],
    startedAt: "2026-03-01T09:00:00Z",
    endedAt: "2026-03-01T09:00:05Z",
  });
  expect(segment.video.map(({ at, durationMs }) => [at - T, durationMs])).toEqual([
    [0, 4500],
    [4500, 4500],
  ]);
  expect(segment).toMatchObject({ events: 0, endMs: T + 9000 });
});

// Android and React Native: logs and actions only.
test("a recording without a picture has the times of its lines", () => {
  const segment = readSegment(
    {
      events: [],
      logs: [{ timestamp: T + 5, level: "info", message: "a" }],
      actions: [{ type: "navigation", timestamp: T, to: "Home" }],
    },
    4,
  );
  expect(segment).toMatchObject({ index: 4, startMs: T, endMs: T + 5, events: 0, video: [] });
});

test.each([
  [null],
  [[]],
  ["text"],
  [{ events: null, logs: {}, actions: 7 }],
  [{ events: [null, 3, { type: 3 }, { type: "x", timestamp: "y" }] }],
  [{ actions: [null, { type: "network" }], logs: [[]] }],
])("%j has nothing to show", (document) => {
  const { logs, network, navigation, actions, video, activity } = readSegment(document);
  expect([logs, network, navigation, actions, video, activity].flat()).toEqual([]);
});

test("a click has the words of what was clicked", () => {
  const node = (id: number, tagName: string, attributes: object, ...childNodes: object[]) => ({
    id,
    type: 2,
    tagName,
    attributes,
    childNodes,
  });
  const words = (id: number, textContent: string) => ({ id, type: 3, textContent });
  const click = (id: number, at: number) => ({ type: 3, data: { source: 2, type: 2, id }, timestamp: T + at });
  const { clicks } = readSegment({
    events: [
      {
        type: 2,
        timestamp: T,
        data: {
          node: {
            id: 1,
            type: 0,
            childNodes: [
              node(
                2,
                "body",
                {},
                node(3, "button", {}, node(4, "span", {}, words(5, " Add  to ")), words(6, "basket")),
                node(7, "input", { placeholder: "Search" }),
                node(8, "p", {}, words(9, "x".repeat(99))),
              ),
            ],
          },
        },
      },
      click(4, 1),
      click(7, 2),
      click(8, 3),
      {
        type: 3,
        timestamp: T + 4,
        data: { source: 0, adds: [{ parentId: 2, node: node(20, "a", { href: "/" }, words(21, "Home")) }] },
      },
      click(21, 5),
      click(99, 6),
      click(2, 7),
    ],
  });
  expect(clicks.map(({ label }) => label)).toEqual(["Add to basket", "Search", "", "Home", "", ""]);
});
