import { describe, expect, it } from "vitest";
import { logSelection } from "./log-selection";

describe("the selection of the Logs page", () => {
  it("is one query", () => {
    expect(logSelection({ q: "declined", level: "ERROR" })).toBe("declined level>=error");
    expect(logSelection({ q: "a OR b", trace: "0af7651916cd43dd8448eb211c80319c" })).toBe(
      "(a OR b) trace_id:0af7651916cd43dd8448eb211c80319c",
    );
  });

  it("is none of every record, or by attributes outside the query", () => {
    expect(logSelection({})).toBeNull();
    expect(logSelection({ q: "declined", attr: "tenant=acme" })).toBeNull();
  });
});
