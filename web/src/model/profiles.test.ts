import { describe, expect, it } from "vitest";
import { baselineOf, firstProfilesNote, firstType, packageSlots, profileTitle, profileValue } from "./profiles";

describe("values", () => {
  it.each([
    [1_500_000_000, "nanoseconds", "1.50 s"],
    [2048, "bytes", "2 KiB"],
    [-2048, "bytes", "-2 KiB"],
    [12, "count", "12"],
    [3, "milliseconds", "3.00 ms"],
    [7, "events", "7 events"],
  ])("%s %s", (value, unit, expected) => expect(profileValue(value, unit)).toBe(expected));

  it("says what first profiles are for", () => {
    expect(firstProfilesNote({ profiles: 2, areShown: false })).toBe(
      "2 first profiles of a process only as the base of differences",
    );
    expect(firstProfilesNote({ profiles: 1, areShown: true })).toContain("since the start of the process");
  });

  it("names types", () => {
    expect(profileTitle({ profile: "cpu", sampleType: "cpu", unit: "nanoseconds" })).toBe("cpu · nanoseconds");
    expect(profileTitle({ profile: "heap", sampleType: "inuse_space", unit: "bytes" })).toBe("heap · inuse_space");
  });
});

describe("packages", () => {
  it("have different colours, up to eight", () => {
    const all = ["", ...Array.from({ length: 12 }, (_, i) => `package${i}`)];
    const slots = packageSlots(all);
    expect(slots.get("")).toBeUndefined();
    expect([...slots.values()].toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(packageSlots(["package0"]).get("package0")).toBe(slots.get("package0"));
  });
});

describe("the baseline", () => {
  const span = { fromMs: Date.UTC(2026, 10, 21, 12), toMs: Date.UTC(2026, 10, 21, 13) };
  it("is the period before", () =>
    expect(baselineOf("previous", span)).toMatchObject({
      fromDate: "2026-11-21T11:00:00.000Z",
      toDate: "2026-11-21T12:00:00.000Z",
    }));
  it("is another version", () =>
    expect(baselineOf("v:1.2:3", span)).toMatchObject({ appVersion: "1.2:3", fromDate: null }));
  it("is none", () => {
    expect(baselineOf(undefined, span)).toBeNull();
    expect(baselineOf("other", span)).toBeNull();
  });
});

it("CPU time is the first type", () => {
  const type = (profile: string, sampleType: string, lastSeen: string) => ({ profile, sampleType, lastSeen });
  const all = [type("heap", "inuse_space", "3"), type("cpu", "samples", "2"), type("cpu", "cpu", "1")];
  expect(firstType(all)?.sampleType).toBe("cpu");
  expect(firstType([all[0], type("block", "delay", "9")])?.profile).toBe("block");
  expect(firstType([])).toBeUndefined();
});
