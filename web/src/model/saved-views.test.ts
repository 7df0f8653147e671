// Item "Saved views": a name, a page and its query string; relative times; a mark when the address differs.
import { describe, expect, it } from "vitest";
import { isPlain, openedSearch, openView, sameSearch, savedSearch, viewPage } from "./saved-views";
import type { SavedView } from "./types";

const view = (id: number, search: string): SavedView => ({
  id,
  name: `view ${id}`,
  page: "logs",
  search,
  shared: false,
  starred: false,
  mayChange: true,
  own: true,
  owner: "Ada",
  createdAt: "2026-06-01T12:00:00Z",
  updatedAt: "2026-06-01T12:00:00Z",
});

describe("pages", () => {
  it.each([
    ["/p/1", "overview"],
    ["/p/1/", "overview"],
    ["/p/1/logs", "logs"],
    ["/p/1/ai", "ai"],
    ["/p/1/traces/0af7", undefined],
    ["/p/1/endpoints/GET%20%2F", undefined],
    ["/p/1/settings", undefined],
    ["/account", undefined],
  ])("%s is %s", (path, page) => expect(viewPage(path)).toBe(page));
});

describe("query strings", () => {
  it.each([
    ["?q=level%3Aerror&from=now-1h", "q=level:error&from=now-1h"],
    ["?q=a&page=3&live=1", "q=a"],
    ["", ""],
  ])("%s is saved as %s", (search, saved) => expect(savedSearch(search)).toBe(saved));

  it("opens with its own time range, or the default", () => {
    expect(openedSearch(view(1, "q=a+b&from=now-1h"))).toEqual({
      q: "a b",
      from: "now-1h",
      to: undefined,
      every: undefined,
      cmp: undefined,
    });
  });

  it.each([
    ["q=a&from=now-1h", "?from=now-1h&q=a", true],
    ["q=a", "?q=a&page=2", true],
    ["q=a%20b", "?q=a+b", true],
    ["q=a", "?q=a&from=now-1h", false],
    ["q=a", "?q=b", false],
  ])("%s and %s: %s", (one, other, same) => expect(sameSearch(one, other)).toBe(same));

  it.each([
    ["", true],
    ["?from=now-1h&every=10", true],
    ["?q=a", false],
  ])("%s is plain: %s", (search, plain) => expect(isPlain(search)).toBe(plain));
});

describe("the open view", () => {
  const views = [view(1, "q=a"), view(2, "q=a"), view(3, "from=now-1h")];
  it.each([
    ["?q=a", undefined, { id: 1, changed: false }],
    ["?q=a", 2, { id: 2, changed: false }],
    ["?q=b", 2, { id: 2, changed: true }],
    ["?q=b", undefined, undefined],
    ["?q=b", 9, undefined],
    ["", 2, undefined],
    ["?from=now-1h", 2, { id: 3, changed: false }],
  ])("%s after %s", (search, last, expected) => {
    const open = openView(views, search, last);
    expect(open && { id: open.view.id, changed: open.changed }).toEqual(expected);
  });
});
