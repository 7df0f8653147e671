import { expect, it } from "vitest";
import { parseSearch } from "./search";
import { aiSearch, issuesSearch, nameSearch, profileSearch, sessionsSearch, spanSearch } from "./telemetry-search";

/** The values that a validator keeps of an address. */
const kept = (validate: (raw: Record<string, unknown>) => object, address: string) =>
  Object.fromEntries(Object.entries(validate(parseSearch(address))).filter(([, value]) => value !== undefined));

it.each([
  ["a page and a sort order", nameSearch, "?q=a&page=2&sort=-p95", { q: "a", page: 2, sort: "-p95" }],
  ["page 0 does not exist", nameSearch, "?page=0", {}],
  ["an unknown split", nameSearch, "?split=colour&tab=errors", { tab: "errors" }],
  ["what is explained", nameSearch, "?explain=slow&where=a:b", { explain: "slow", where: "a:b" }],
  ["a flag of AI traces", aiSearch, "?flag=any&by=model&calls=all", { flag: "any", by: "model", calls: "all" }],
  ["no grouping by name: it is the default", aiSearch, "?by=name", {}],
  ["addresses of older releases", issuesSearch, "?archived=1", { state: "all" }],
  ["a state that does not exist", issuesSearch, "?state=eaten&type=messages", { type: "messages" }],
  ["seconds", sessionsSearch, "?min=1.5&max=-1&errors=1", { min: 1.5, errors: true }],
  ["filters of spans", spanSearch, "?kind=3&all=true&plot=heatmap", { kind: 3, all: true, plot: "heatmap" }],
  ["an unknown view of profiles", profileSearch, "?view=tree&fn=main", { fn: "main" }],
])("%s", (_, validate, address, expected) => {
  expect(kept(validate, address)).toEqual(expected);
});
