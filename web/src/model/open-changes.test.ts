import { describe, expect, it } from "vitest";
import { changeChip, changedServices, changeOfIssue, changeSentence, mapSince, openChangeOf } from "./open-changes";
import { setTimeZone } from "./time";
import type { ChangeCard } from "./types";

const NOW = Date.parse("2026-06-01T14:00:00Z");
const card = (over: Partial<ChangeCard>): ChangeCard =>
  ({
    kind: "endpoint",
    name: "GET /a",
    since: "2026-06-01T05:51:00Z",
    effects: [],
    suffering: [],
    newIssues: [],
    ...over,
  }) as ChangeCard;

const effect = (metric: ChangeCard["effects"][number]["metric"], before: number, after: number) => [
  { metric, before, after, since: "2026-06-01T05:51:00Z" },
];

describe("the chip of an open change", () => {
  it.each([
    [effect("p50", 30, 201), /^6\.7 × since \d\d:\d\d$/],
    [effect("cost", 0.02, 0.05), /^2\.5 × since /],
    [effect("error_rate", 0.01, 0.12), /^12 % fail since /],
    [effect("refused_share", 0.01, 0.25), /^25 % refused since /],
    [effect("slow_share", 0.01, 0.06), /^6 % slow since /],
    [effect("calls", 10, 3), /^70 % fewer calls since /],
    [effect("p50", 0, 3), /^worse since /],
    [[], /^since /],
  ])("%j", (effects, expected) => {
    expect(changeChip(card({ effects }), NOW)).toMatch(expected);
  });

  it("has the date of a change that is older than a day", () => {
    expect(changeChip(card({ since: "2026-05-21T12:00:00Z" }), NOW)).toMatch(/since 21 May \d\d:\d\d$/);
  });
});

it("the times of a sentence are in the viewer's zone", () => {
  const sentenceParts = [
    { text: "GET /a is slower since " },
    { text: "05:51 UTC", at: "2026-06-01T05:51:00Z" },
    { text: "." },
  ];
  setTimeZone("Asia/Tokyo");
  expect(changeSentence({ sentenceParts }, NOW)).toBe("GET /a is slower since 14:51.");
  expect(changeSentence({ sentenceParts }, NOW + 86_400_000)).toBe("GET /a is slower since 1 Jun 14:51.");
  setTimeZone(null);
});

it("a subject has its own open change, or that from which it suffers", () => {
  const over = card({ name: "GET /b", recovered: "2026-06-01T07:00:00Z" });
  const cards = [card({ suffering: ["GET /c"] }), over, card({ kind: "task", name: "mail" })];
  const of = (kind: ChangeCard["kind"], name: string) => {
    const change = openChangeOf(cards, kind, name);
    return change && [change.card.name, change.suffers];
  };
  expect(of("endpoint", "GET /a")).toEqual(["GET /a", false]);
  expect(of("endpoint", "GET /b")).toBeUndefined();
  expect(of("endpoint", "GET /c")).toEqual(["GET /a", true]);
  expect(of("task", "mail")).toEqual(["mail", false]);
  expect(of("endpoint", "mail")).toBeUndefined();
  expect(of("ai_trace", "GET /c")).toBeUndefined();
});

it("the worst open change of a service is its first card", () => {
  const cards = [card({ service: "shop" }), card({ service: "shop", name: "GET /b" }), card({ service: "" })];
  expect([...changedServices(cards)].map(([service, { name }]) => [service, name])).toEqual([["shop", "GET /a"]]);
});

it("a changed service and the edges to it have the calls since its change", () => {
  const stats = (errors: number) => ({ calls: 10, errors, perMinute: 1 });
  const node = (name: string) => ({
    id: `service:${name}`,
    kind: "service" as const,
    name,
    versions: 1,
    stats: stats(0),
  });
  const edge = (from: string, to: string, errors: number) => ({
    from: `service:${from}`,
    to: `service:${to}`,
    stats: stats(errors),
  });
  const map = { nodes: [node("web"), node("pay")], edges: [edge("web", "pay", 0), edge("pay", "web", 0)] };
  expect(mapSince(map, new Map())).toBe(map);
  const since = mapSince(map, new Map([["pay", { stats: stats(5), calls: [edge("web", "pay", 4)] }]]));
  expect(since.nodes.map((one) => one.stats.errors)).toEqual([0, 5]);
  expect(since.edges.map((one) => one.stats.errors)).toEqual([4, 0]);
  const unread = mapSince(map, new Map([["pay", { calls: [] }]]));
  expect(unread.nodes.map((one) => one.stats.errors)).toEqual([0, 0]);
});

it("an Issue belongs to its own card, or to the one with which it began", () => {
  const cards = [card({ newIssues: ["E: no"] }), card({ kind: "issue", name: "E: no", exceptionHash: "1f" })];
  expect(changeOfIssue(cards, "1f", "E: no")?.kind).toBe("issue");
  expect(changeOfIssue(cards, "2f", "E: no")?.kind).toBe("endpoint");
  expect(changeOfIssue(cards, "2f", "F: no")).toBeUndefined();
});
