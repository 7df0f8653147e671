// States of issues: display strings, and the choices of lists and buttons.
import { count, plural } from "./format";
import { exactTime } from "./time";
import type { IssueActivity, IssueGroup, IssueState } from "./types";

/** Choices of the list: `open` includes regressed issues. */
export const STATE_VIEWS = ["open", "regressed", "resolved", "muted", "archived", "all"] as const;
export type StateView = (typeof STATE_VIEWS)[number];

const SHOWN: Record<StateView, { label: string; states: IssueState[] | null }> = {
  open: { label: "Open", states: null },
  regressed: { label: "Regressed", states: ["regressed"] },
  resolved: { label: "Resolved", states: ["resolved", "resolved_in_next_version"] },
  muted: { label: "Muted", states: ["muted"] },
  archived: { label: "Archived", states: ["archived"] },
  all: { label: "All states", states: null },
};

export const STATE_OPTIONS = STATE_VIEWS.map((value) => ({ value, label: SHOWN[value].label }));

/** The conditions of a list request. */
export function stateBody(view: StateView): { states: IssueState[] | null; includeArchived: boolean } {
  return { states: SHOWN[view].states, includeArchived: view === "all" };
}

/** Whether a list with this choice has an issue in this state. */
export function isInView(view: StateView, state: IssueState): boolean {
  if (view === "all") return true;
  return (SHOWN[view].states ?? ["open", "regressed"]).includes(state);
}

export const STATE_WORDS: Record<IssueState, string> = {
  open: "open",
  regressed: "regressed",
  resolved: "resolved",
  resolved_in_next_version: "resolved in next version",
  muted: "muted",
  archived: "archived",
};

/** One sentence: when the issue leaves its state. Empty for open issues. */
export function stateTip(issue: Pick<IssueGroup, "state" | "decision">): string {
  const at = issue.decision ? exactTime(issue.decision.decidedAt) : "";
  switch (issue.state) {
    case "open":
      return "";
    case "regressed":
      return `It happened again after it was resolved at ${at}.`;
    case "resolved":
      return `Resolved at ${at}. It is back when it happens again.`;
    case "resolved_in_next_version":
      return `Resolved at ${at}. It is back when it happens in a version that was first seen after that.`;
    case "muted":
      return `Muted ${muteWords(issue.decision?.untilTime, issue.decision?.untilCount)}.`;
    case "archived":
      return `Archived at ${at}. It is back when it happens again.`;
  }
}

/** "until 12:00", "until 100 more events". */
export function muteWords(untilTime?: string | null, untilCount?: number | null): string {
  const ends = [untilTime ? exactTime(untilTime) : "", untilCount ? `${plural(untilCount, "more event")}` : ""].filter(
    Boolean,
  );
  return `until ${ends.join(" or ")}`;
}

export interface Mute {
  untilTime?: string;
  untilCount?: number;
}

const HOUR_MS = 3_600_000;
/** Choices of a mute: milliseconds, or events. */
export const MUTES: { value: string; label: string; ms?: number; events?: number }[] = [
  { value: "1h", label: "1 hour", ms: HOUR_MS },
  { value: "1d", label: "1 day", ms: 24 * HOUR_MS },
  { value: "1w", label: "1 week", ms: 7 * 24 * HOUR_MS },
  { value: "10", label: "10 events", events: 10 },
  { value: "100", label: "100 events", events: 100 },
  { value: "1000", label: `${count(1000)} events`, events: 1000 },
];

/** The request of a choice at the time `now`, milliseconds since the epoch. */
export function mute(value: string, now: number): Mute {
  const chosen = MUTES.find((one) => one.value === value);
  if (chosen?.events) return { untilCount: chosen.events };
  return { untilTime: new Date(now + (chosen?.ms ?? HOUR_MS)).toISOString() };
}

/** An entry of the activity without its author and time: "set it to muted until 10 more events". */
export function activityWords(entry: IssueActivity): string {
  switch (entry.type) {
    case "state":
      if (entry.state === "open") return "reopened it";
      if (entry.state === "muted") return `muted it ${muteWords(entry.untilTime, entry.untilCount)}`;
      return `set it to ${STATE_WORDS[entry.state ?? "open"]}`;
    case "regressed":
      return "It happened again after it was resolved";
    case "assigned":
      return entry.assignee ? `assigned it to ${entry.assignee}` : "removed the assignee";
    case "merged":
      return `merged ${entry.exceptionHash} into it`;
    case "unmerged":
      return `separated ${entry.exceptionHash} from it`;
    case "joined":
      return `joined by grouping rule ${entry.ruleVersion}: ${plural(entry.joinedIssues ?? 0, "Issue")}`;
    case "comment":
      return "commented";
  }
}
