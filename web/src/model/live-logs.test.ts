import { expect, test } from "vitest";
import { EMPTY, LIVE_ROWS_MAX, liveLogs, wholeQuery } from "./live-logs";
import type { LogRow } from "./types";

const rows = (...bodies: string[]) => bodies.map((body) => ({ id: body, body }) as LogRow);
const logs = (data: LogRow[], skipped = 0, missed = 0) => ({ type: "logs" as const, data, skipped, missed });

test("rows that arrive during a pause wait until it ends", () => {
  let state = liveLogs(EMPTY, logs(rows("a", "b"), 3));
  state = liveLogs(state, { type: "pause" });
  state = liveLogs(state, logs(rows("c"), 1, 2));
  expect(state.shown.map((row) => row.body)).toEqual(["a", "b"]);
  expect([state.held.length, state.leftOut, state.arrived]).toEqual([1, 6, 3]);
  state = liveLogs(state, { type: "resume" });
  expect(state.shown.map((row) => [row.body, row.number])).toEqual([
    ["a", 0],
    ["b", 1],
    ["c", 2],
  ]);
  expect(state.held).toEqual([]);
  state = liveLogs(state, { type: "clear" });
  expect([state.shown.length, state.leftOut]).toEqual([0, 0]);
});

test("the number of rows is bounded, the latest stay", () => {
  let state = EMPTY;
  for (let i = 0; i < LIVE_ROWS_MAX + 10; i++) state = liveLogs(state, logs(rows(String(i))));
  expect(state.shown).toHaveLength(LIVE_ROWS_MAX);
  expect(state.shown[LIVE_ROWS_MAX - 1].body).toBe(String(LIVE_ROWS_MAX + 9));
});

test("the filters of the page are one query", () => {
  const none = { query: "", filters: [] };
  expect(wholeQuery(none)).toEqual({ query: "", shift: 0 });
  expect(wholeQuery({ ...none, query: " a OR b " })).toEqual({ query: "a OR b", shift: 0 });
  expect(wholeQuery({ ...none, level: "WARN", service: "my shop" }).query).toBe('level>=warn service="my shop"');
  const filters = [
    { key: "log:tenant", value: "acme" },
    { key: "resource:host.name", value: "a b" },
    { key: "x", value: "" },
  ];
  expect(wholeQuery({ query: "a OR b", trace: "ff", filters })).toEqual({
    query: '(a OR b) record.tenant=acme resource.host.name="a b" x="" trace:ff',
    shift: 1,
  });
});
