// An open change of a subject, in the words of a chip beside its name.
import { percent } from "./format";
import type { CallStats, MapEdge, MapNode } from "./service-map";
import { clockMinutes, dayMonth, parseMs } from "./time";
import type { ChangeCard } from "./types";

const DAY_MS = 86_400_000;

/** An open change, and whether it is another subject's, of which this one suffers and has no card. */
export interface OpenChange {
  card: ChangeCard;
  suffers: boolean;
}

/** The open change of a subject; undefined without one. Model calls suffer from none: they call nothing. */
export function openChangeOf(cards: ChangeCard[], kind: ChangeCard["kind"], name: string): OpenChange | undefined {
  const open = cards.filter((card) => !card.recovered);
  const own = open.find((card) => card.kind === kind && card.name === name);
  if (own) return { card: own, suffers: false };
  const cause = kind === "ai_trace" ? undefined : open.find((card) => card.suffering.includes(name));
  return cause && { card: cause, suffers: true };
}

/** The first open change of each service: cards are sorted by harm. */
export function changedServices(cards: ChangeCard[]): Map<string, ChangeCard> {
  const open = cards.filter((card) => !card.recovered && card.service && card.kind !== "issue");
  return new Map(open.toReversed().map((card) => [card.service, card]));
}

/** The calls that a changed service has served since its change: all, and by caller. */
export interface ServedSince {
  stats?: CallStats;
  /** Edges to the service; empty until they are read. */
  calls: MapEdge[];
}

/** The map with the calls of changed services since their changes, at the services and at their edges alike. */
export function mapSince<Drawn extends { nodes: MapNode[]; edges: MapEdge[] }>(
  map: Drawn,
  changed: Map<string, ServedSince>,
): Drawn {
  if (!changed.size) return map;
  const served = (node: MapNode) => (node.kind === "service" ? changed.get(node.name)?.stats : undefined);
  const calls = new Map([...changed.values()].flatMap((one) => one.calls).map((edge) => [keyOf(edge), edge.stats]));
  return {
    ...map,
    nodes: map.nodes.map((node) => ({ ...node, stats: served(node) ?? node.stats })),
    edges: map.edges.map((edge) => ({ ...edge, stats: calls.get(keyOf(edge)) ?? edge.stats })),
  };
}

const keyOf = ({ from, to }: MapEdge) => `${from}\n${to}`;

/** The open change of an Issue, or that with which it began. */
export function changeOfIssue(cards: ChangeCard[], hash: string, title: string): ChangeCard | undefined {
  const open = cards.filter((card) => !card.recovered);
  return open.find((card) => card.exceptionHash === hash) ?? open.find((card) => card.newIssues.includes(title));
}

/** "6.7 × since 05:51", "12 % fail since 21 Nov 05:51". */
export function changeChip(card: Pick<ChangeCard, "effects" | "since">, nowMs: number): string {
  const effect = card.effects[0];
  return [effect && effectWords(effect), `since ${moment(parseMs(card.since), nowMs)}`].filter(Boolean).join(" ");
}

function effectWords({ metric, before, after }: ChangeCard["effects"][number]): string {
  switch (metric) {
    case "error_rate":
      return `${percent(after)} fail`;
    case "refused_share":
      return `${percent(after)} refused`;
    case "slow_share":
      return `${percent(after)} slow`;
    case "calls":
      return before > 0 ? `${percent(Math.max(0, 1 - after / before))} fewer calls` : "fewer calls";
    default:
      return before > 0 ? `${Number((after / before).toPrecision(2))} ×` : "worse";
  }
}

/** The time of day; with the date when it is more than a day ago. */
export function moment(ms: number, nowMs: number): string {
  return nowMs - ms < DAY_MS ? clockMinutes(ms) : `${dayMonth(ms)} ${clockMinutes(ms)}`;
}

/** The sentence of a change, with its times in the viewer's time zone. */
export function changeSentence(card: Pick<ChangeCard, "sentenceParts">, nowMs: number): string {
  return card.sentenceParts.map(({ text, at }) => (at ? moment(parseMs(at), nowMs) : text)).join("");
}
