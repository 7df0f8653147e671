import { describe, expect, it } from "vitest";
import { deployMarks, deployWords } from "./deploys";
import type { Deploy } from "./types";

const deploy = (minute: number, change: Partial<Deploy> = {}): Deploy => ({
  service: "checkout",
  environment: "",
  version: `1.${minute}`,
  time: new Date(minute * 60_000).toISOString(),
  firstSeen: null,
  reported: false,
  previous: "1.0",
  commit: "",
  author: "",
  url: "",
  ...change,
});

describe("marks of deploys", () => {
  it("are at their time, and close ones are one", () => {
    const all = [deploy(90), deploy(30), deploy(31), deploy(200), deploy(60, { previous: null })];
    const marks = deployMarks(all, 0, 120 * 60_000, 240);
    expect(marks.map((mark) => [mark.left, mark.deploys.map((one) => one.version)])).toEqual([
      [60, ["1.30", "1.31"]],
      [180, ["1.90"]],
    ]);
  });

  it("include the first version of a service only when it was reported", () => {
    const first = deploy(60, { previous: null });
    expect(deployMarks([first], 0, 120 * 60_000, 240)).toEqual([]);
    expect(deployMarks([{ ...first, reported: true }], 0, 120 * 60_000, 240)).toHaveLength(1);
  });

  it("are named by service, version, environment and the version before", () => {
    expect(deployWords(deploy(30, { environment: "production" }))).toMatch(
      /^checkout 1\.30 in production at \d\d:\d\d, before 1\.0$/,
    );
  });
});
