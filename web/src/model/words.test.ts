import { expect, it } from "vitest";
import { droppedSentence, graphSentence, isJunkName, rejectedSentence, severity } from "./words";

it("describes dropped records and refused requests", () => {
  expect(droppedSentence("traces", "unmatched_root", 1)).toBe(
    "1 span not stored: root spans that are no request, task or AI call",
  );
  expect(droppedSentence("logs", "too_old", 1)).toBe("1 log record not stored: older than the project keeps telemetry");
  expect(droppedSentence("traces", "disk_budget", 2)).toBe(
    "2 spans of the oldest days dropped to make room on the disk",
  );
  expect(droppedSentence("traces", "healthcheck", 3)).toBe("3 spans not stored: health checks that went well");
  expect(droppedSentence("logs", "shared_attributes_too_large", 2)).toBe(
    "2 log records stored without some attributes: the resource or scope has too many (32 KB are kept)",
  );
  expect(droppedSentence("traces", "too_many_names", 2)).toBe(
    "2 spans stored under the name (other): the service has too many names on one day",
  );
  expect(droppedSentence("reports", "invalid_item", 2)).toBe("2 items not stored: items that could not be read");
  expect(rejectedSentence("traces", "bad_token", 3)).toBe(
    "3 trace requests refused because of a wrong or missing token",
  );
  expect(rejectedSentence("logs", "something_new", 1)).toBe("1 log request refused because of something new");
});

it.each([
  [{ state: "complete", reasons: [], total: 3, shown: 3 }, null],
  [{ state: "unavailable", reasons: [], total: 0, shown: 0 }, "No spans are stored for this trace."],
  [
    { state: "partial", reasons: ["span_limit"], total: 30_000, shown: 20_000 },
    "Showing 20,000 of 30,000 spans. Only the first spans are drawn.",
  ],
])("graph status %j", (status, want) => expect(graphSentence(status)).toBe(want));

// Spec: classification, rule 2: a root with http.route but no method is filed under a junk name.
it.each([
  ["GET /a", false],
  ["UNMATCHED", false],
  ["GET books/<id>", false],
  ["middleware - jsonParser", true],
  ["/a", true],
])("%s is a junk name: %s", (name, want) => expect(isJunkName(name)).toBe(want));

it.each([
  ["warning", 0, "WARN"],
  ["CRITICAL", 0, "FATAL"],
  ["", 18, "ERROR"],
  ["", 0, "UNSET"],
  ["INFO2", 10, "INFO"],
])("severity %s %s -> %s", (text, number, want) => expect(severity(text, number)).toBe(want));
