import { expect, test } from "vitest";
import { moved, previewWords } from "./grouping-rules";
import type { GroupingRulePreview } from "./types";

const PREVIEW: GroupingRulePreview = {
  events: 1204,
  joinedIssues: 4,
  joinedEvents: 1204,
  splitIssues: 0,
  newHashes: 1,
  readEvents: 9000,
  partial: false,
  warning: "",
};

test("a preview in words", () => {
  expect(previewWords(PREVIEW)).toBe("Would join 4 Issues (1,204 events), split 0.");
  expect(previewWords({ ...PREVIEW, partial: true })).toMatch(/ Of the latest 9,000 events\.$/);
  expect(previewWords({ ...PREVIEW, events: 0 })).toBe("No event of the last seven days meets the query.");
});

test("a rule moves by one place and stays within the list", () => {
  expect(moved([1, 2, 3], 2, -1)).toEqual([2, 1, 3]);
  expect(moved([1, 2, 3], 2, 1)).toEqual([1, 3, 2]);
  expect(moved([1, 2, 3], 3, 1)).toEqual([1, 2, 3]);
});
