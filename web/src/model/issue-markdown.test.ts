import { expect, test } from "vitest";
import { issueMarkdown } from "./issue-markdown";
import type { IssueDetail } from "./types";

test("an issue as Markdown; content cannot end its code", () => {
  const group = {
    exceptionType: "PayError",
    title: "PayError: no",
    message: "no `x`\nsecond",
    state: "regressed",
    count: 12,
    users: 3,
    firstOccurrence: "2026-06-01T12:00:00Z",
    lastSeen: "2026-06-02T12:00:00Z",
    firstVersion: "1.0",
    lastVersion: "1.1",
    ownerName: "",
  } as IssueDetail["group"];
  const found = issueMarkdown({ group, occurrences: [], commit: "abc" }, "PayError: no\n```\n  at f", "https://t/i");
  expect(found).toBe(
    [
      "## `PayError`",
      "",
      "- Message: ``` no `x` second ```",
      "- State: regressed",
      "- Events: 12 events, 3 users",
      "- First seen: 2026-06-01T12:00:00Z",
      "- Last seen: 2026-06-02T12:00:00Z",
      "- Versions: `1.0` to `1.1`",
      "- Commit: `abc`",
      "",
      "````\nPayError: no\n```\n  at f\n````",
      "",
      "<https://t/i>",
    ].join("\n"),
  );
});
