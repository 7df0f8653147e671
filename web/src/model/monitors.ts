// Monitors: words of their states, targets and days.
import type { Check, CheckDay } from "./types";

/** Word and tone of a monitor. */
export function stateWords(check: Pick<Check, "enabled" | "state" | "checkType">): {
  word: string;
  tone: "ok" | "error" | "plain";
} {
  if (!check.enabled) return { word: "paused", tone: "plain" };
  if (check.state === "up") return { word: "up", tone: "ok" };
  if (check.state === "down") return { word: "down", tone: "error" };
  return { word: check.checkType === "heartbeat" ? "no report yet" : "not checked yet", tone: "plain" };
}

/** Target of a monitor, in one line. */
export function targetOf(check: Pick<Check, "checkType" | "config">): string {
  const config = check.config as Record<string, unknown>;
  switch (check.checkType) {
    case "http":
      return String(config.url);
    case "tcp":
    case "tls":
      return `${config.host}:${config.port}`;
    case "dns":
      return `${config.recordType} ${config.name}`;
    case "browser":
      return scriptWords(String(config.script));
    default:
      return `every ${spell(Number(config.periodSeconds))}`;
  }
}

/** The first address of a script, or how long it is. */
function scriptWords(script: string): string {
  const address = /https?:\/\/[^\s'"`)]+/.exec(script)?.[0];
  const lines = script.trim().split("\n").length;
  return address ?? `a script of ${lines} ${lines === 1 ? "line" : "lines"}`;
}

/** 90 s, 5 min, 24 h, 7 d. */
export function spell(seconds: number): string {
  const units = [
    [86_400, "d"],
    [3600, "h"],
    [60, "min"],
  ] as const;
  for (const [length, unit] of units)
    if (seconds >= length && seconds % length === 0) return `${seconds / length} ${unit}`;
  return `${seconds} s`;
}

export interface DayBar {
  /** `2026-06-01`. */
  day: string;
  tone: "none" | "ok" | "warn" | "error";
  words: string;
}

const DAY_MS = 86_400_000;
/** Share of good results below which a day is red. */
const BAD_DAY = 0.95;

/** One bar for each of the last `count` UTC days, the oldest first. */
export function dayBars(days: CheckDay[], nowMs: number, count = 90): DayBar[] {
  const known = new Map(days.map((day) => [day.bucket.slice(0, 10), day]));
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  return Array.from({ length: count }, (_, index) => {
    const day = new Date(today - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10);
    const found = known.get(day);
    const made = found ? found.total - found.missed : 0;
    if (!found || made <= 0) return { day, tone: "none", words: `${day}: not checked` };
    const share = found.up / made;
    const tone = share === 1 ? "ok" : share >= BAD_DAY ? "warn" : "error";
    return { day, tone, words: `${day}: ${uptimeText(share * 100)} of ${made} checks good` };
  });
}

/** 100 %, 99.98 %, 0 %. Never rounds up to 100. */
export function uptimeText(percent: number | null | undefined): string {
  if (percent === null || percent === undefined) return "–";
  if (percent === 100 || percent === 0) return `${percent} %`;
  return `${(Math.floor(percent * 100) / 100).toFixed(2)} %`;
}
