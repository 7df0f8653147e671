import { describe, expect, it } from "vitest";
import { clipSegments } from "./clip";

const encoded = (document: object) => new TextEncoder().encode(JSON.stringify(document)).buffer as ArrayBuffer;
const second = (n: number) => new Date(Date.UTC(2026, 10, 23, 9, 0, n)).toISOString();
const snapshot = (n: number) => ({ type: 2, timestamp: Date.parse(second(n)), data: {} });
const document = (from: number, to: number, message: string) =>
  encoded({
    startedAt: second(from),
    endedAt: second(to),
    events: [snapshot(from)],
    logs: [{ timestamp: second(from), level: "info", message }],
  });

describe("the clip of an exception", () => {
  it("is its session's segments when it has no recording of its own", () => {
    const all = [document(0, 10, "a"), document(10, 20, "b")];
    const { played, segments } = clipSegments(null, all);
    expect(played).toEqual(all);
    expect(segments.map((one) => one.logs[0].message)).toEqual(["a", "b"]);
  });

  it("has the console of segments that overlap it, and their picture once", () => {
    const own = document(10, 18, "own");
    const [before, overlapping, after] = [
      document(0, 9, "before"),
      document(10, 20, "sent"),
      document(21, 30, "after"),
    ];
    const { played, segments } = clipSegments(own, [before, overlapping, after]);
    expect(played).toEqual([own, before, after]);
    expect(segments.map((one) => one.logs[0].message)).toEqual(["own", "before", "sent", "after"]);
    expect(segments.map((one) => one.events > 0)).toEqual([true, true, false, true]);
  });
});
