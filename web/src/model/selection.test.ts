import { describe, expect, it } from "vitest";
import { changeSelection, heatStep, parseSelection, selectionBody, selectionText, spikeOf } from "./selection";

describe("selections", () => {
  it("are read from the URL as they are written", () => {
    for (const text of [
      "slow",
      "errors",
      "version:1.42.0 (a, b)",
      "0,60000,1000,2000",
      "errors:0,60000",
      "time:0,60000",
    ]) {
      const parsed = parseSelection(text);
      expect(parsed && selectionText(parsed)).toBe(text);
    }
    for (const text of [
      undefined,
      "",
      "fast",
      "version:",
      "1,2,3",
      "5,5,1,2",
      "0,1,2,2",
      "0,1,x,2",
      "0,1,2,3,4",
      "time:",
      "time:5",
      "time:5,5",
      "errors:0,1,2,3",
      "slow:0,1",
      "0,1",
    ])
      expect(parseSelection(text)).toBeNull();
  });

  it("become queries", () => {
    expect(selectionBody({ kind: "errors" }, null, false)).toMatchObject({ query: "status:error" });
    expect(selectionBody({ kind: "errors" }, null, true)).toMatchObject({ query: "error:true" });
    expect(selectionBody({ kind: "version", version: "1 2" }, null, false)).toMatchObject({ query: 'version:"1 2"' });
    expect(selectionBody({ kind: "slow" }, 5000, false)).toMatchObject({ query: "duration>=5000ns" });
    expect(selectionBody({ kind: "box", box: { fromMs: 0, toMs: 60_000, fromNs: 10, toNs: 20 } }, null, false)).toEqual(
      {
        query: "duration>=10ns duration<20ns",
        fromDate: "1970-01-01T00:00:00.000Z",
        toDate: "1970-01-01T00:01:00.000Z",
      },
    );
  });
});

describe("the rows of a change", () => {
  const since = "2026-11-24T09:04:00Z";
  const [fromMs, nowMs] = [Date.parse(since), Date.parse(since) + 1_800_000];
  const card = (metric: string, more = {}) =>
    changeSelection(
      {
        kind: "endpoint",
        since,
        recovered: null,
        slowMs: null,
        effects: [{ metric, before: 1, after: 2, since }],
        ...more,
      } as never,
      nowMs,
    );

  it("are those slower than usual, the failed ones, or all", () => {
    expect(card("p50", { slowMs: 250 })).toEqual({
      kind: "box",
      box: { fromMs, toMs: nowMs, fromNs: 250e6, toNs: Number.MAX_SAFE_INTEGER },
    });
    expect(card("error_rate", { slowMs: 250 })).toEqual({ kind: "errors", time: { fromMs, toMs: nowMs } });
    expect(card("refused_share")).toEqual({ kind: "refused", time: { fromMs, toMs: nowMs } });
    expect(card("cost", { kind: "ai_trace" })).toEqual({ kind: "time", time: { fromMs, toMs: nowMs } });
    for (const found of [card("slow_share", { slowMs: 1 }), card("error_rate"), card("refused_share"), card("cost")])
      expect(found && parseSelection(selectionText(found))).toEqual(found);
  });

  it("end when the change does", () => {
    expect(card("error_rate", { recovered: "2026-11-24T09:10:00Z" })).toMatchObject({
      time: { toMs: fromMs + 360_000 },
    });
  });

  it("are none of a service, an issue or missing calls", () => {
    expect(card("calls")).toBeNull();
    expect(card("p50", { kind: "service", slowMs: 1 })).toBeNull();
    expect(card("p50", { kind: "issue", effects: [] })).toBeNull();
  });
});

describe("the spike", () => {
  const rows = [
    { fromNs: 0, toNs: 100 },
    { fromNs: 100, toNs: 200 },
  ];
  const spike = (slow: number[], slowNs: number | null = 100) =>
    spikeOf({
      startMs: 1000,
      columnMs: 10,
      columns: slow.length,
      rows,
      slowNs,
      cells: slow.flatMap((count, column) => [
        { column, row: 0, count: 50 },
        { column, row: 1, count },
      ]),
    });
  const box = (fromMs: number, toMs: number) => ({ fromMs, toMs, fromNs: 100, toNs: 200 });

  it("is the run of columns with the most slow rows above the ordinary", () => {
    expect(spike([2, 2, 3, 20, 30, 2, 2, 25])).toEqual(box(1030, 1050));
    expect(spike([2, 2, 3, 10, 10, 2, 2, 60])).toEqual(box(1070, 1080));
    expect(spike([60, 2, 2, 2, 2])).toEqual(box(1000, 1010));
  });

  it("is nothing in even traffic", () => {
    for (const slow of [[], [9, 9], [2, 2, 2, 2], [2, 4, 3, 5, 6, 2], [60, 60, 60, 60], [0, 10, 20, 0, 30, 10, 20]])
      expect(spike(slow)).toBeNull();
    expect(spike([2, 2, 60, 2], null)).toBeNull();
  });
});

describe("steps of colour", () => {
  it("are logarithmic and within six", () => {
    expect([1, 2, 10, 100, 1000].map((count) => heatStep(count, 1000))).toEqual([0, 0, 2, 4, 5]);
    expect(heatStep(1, 1)).toBe(5);
  });
});
