import { expect, test } from "vitest";
import { activityWords, isInView, mute, stateBody } from "./issue-state";
import type { IssueActivity } from "./types";

test("a list requests its states", () => {
  expect(stateBody("open")).toEqual({ states: null, includeArchived: false });
  expect(stateBody("all")).toEqual({ states: null, includeArchived: true });
  expect(stateBody("resolved").states).toEqual(["resolved", "resolved_in_next_version"]);
});

test("a changed issue stays in a list that includes its new state", () => {
  expect(isInView("open", "regressed")).toBe(true);
  expect(isInView("open", "muted")).toBe(false);
  expect(isInView("muted", "muted")).toBe(true);
  expect(isInView("all", "archived")).toBe(true);
});

test("a mute ends at a time or after events", () => {
  expect(mute("1h", 0)).toEqual({ untilTime: "1970-01-01T01:00:00.000Z" });
  expect(mute("100", 0)).toEqual({ untilCount: 100 });
});

test("activity in words", () => {
  const entry = (of: Partial<IssueActivity>) => activityWords(of as IssueActivity);
  expect(entry({ type: "state", state: "open" })).toBe("reopened it");
  expect(entry({ type: "state", state: "resolved_in_next_version" })).toBe("set it to resolved in next version");
  expect(entry({ type: "state", state: "muted", untilCount: 10 })).toBe("muted it until 10 more events");
  const joined = entry({ type: "joined", ruleVersion: 2, joinedIssues: 4 });
  expect(joined).toBe("joined by grouping rule 2: 4 Issues");
  expect(entry({ type: "assigned", assignee: null })).toBe("removed the assignee");
});
