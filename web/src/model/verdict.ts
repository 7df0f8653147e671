// An open change of a subject, in the words of a chip beside its name.
import { percent } from "./format";
import { clockMinutes, dayMonth, parseMs } from "./time";
import type { ChangeCard } from "./types";

const DAY_MS = 86_400_000;

/** The changes that are not over, by the names of their subjects of a kind. */
export function openChanges(cards: ChangeCard[], kind: ChangeCard["kind"]): Map<string, ChangeCard> {
  const open = cards.filter((card) => card.kind === kind && !card.recovered);
  return new Map(open.map((card) => [card.name, card]));
}

/** The open changes of which each subject suffers, by its name: its own card names only the cause. */
export function sufferingOf(cards: ChangeCard[]): Map<string, ChangeCard> {
  const open = cards.filter((card) => !card.recovered);
  return new Map(open.flatMap((card) => card.suffering.map((name) => [name, card] as const)));
}

/** The first open change of each service: cards are sorted by harm. */
export function changedServices(cards: ChangeCard[]): Map<string, ChangeCard> {
  const open = cards.filter((card) => !card.recovered && card.service && card.kind !== "issue");
  return new Map(open.toReversed().map((card) => [card.service, card]));
}

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
    case "slow_share":
      return `${percent(after)} slow`;
    case "calls":
      return before > 0 ? `${percent(Math.max(0, 1 - after / before))} fewer calls` : "fewer calls";
    default:
      return before > 0 ? `${Number((after / before).toPrecision(2))} ×` : "worse";
  }
}

/** The time of day; with the date when it is more than a day ago. */
function moment(ms: number, nowMs: number): string {
  return nowMs - ms < DAY_MS ? clockMinutes(ms) : `${dayMonth(ms)} ${clockMinutes(ms)}`;
}
