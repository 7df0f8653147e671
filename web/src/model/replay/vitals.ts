// Web vitals: names, units and Google's thresholds (web.dev/articles/vitals).
import { durationRound } from "../format";
import type { Vital } from "./segment";

export type Rating = "good" | "needs improvement" | "poor";

/** Longest value that is good, and shortest that is poor. Milliseconds, except for CLS. */
const VITALS: Record<string, { label: string; good: number; poor: number }> = {
  LCP: { label: "Largest contentful paint", good: 2500, poor: 4000 },
  INP: { label: "Interaction to next paint", good: 200, poor: 500 },
  CLS: { label: "Cumulative layout shift", good: 0.1, poor: 0.25 },
  FCP: { label: "First contentful paint", good: 1800, poor: 3000 },
  TTFB: { label: "Time to first byte", good: 800, poor: 1800 },
  FID: { label: "First input delay", good: 100, poor: 300 },
};

export interface ShownVital {
  name: string;
  label: string;
  text: string;
  rating: Rating;
  /** Time of the last report; null if it is an attribute of the session. */
  at: number | null;
}

/** The last report of each vital, and attributes such as `web_vitals.lcp`. */
export function shownVitals(reports: readonly Vital[], attributes: Record<string, string>): ShownVital[] {
  const last = new Map<string, { value: number; at: number | null }>();
  for (const [key, value] of Object.entries(attributes)) {
    const name = /^(?:web[._-]?vitals?[._-])?(lcp|inp|cls|fcp|ttfb|fid)$/i.exec(key)?.[1].toUpperCase();
    if (name && value.trim() !== "" && Number.isFinite(Number(value)))
      last.set(name, { value: Number(value), at: null });
  }
  for (const { name, value, at } of reports) last.set(name, { value, at });
  return Object.entries(VITALS).flatMap(([name, { label, good, poor }]) => {
    const found = last.get(name);
    if (!found) return [];
    const { value, at } = found;
    const rating: Rating = value <= good ? "good" : value >= poor ? "poor" : "needs improvement";
    return [{ name, label, text: name === "CLS" ? value.toFixed(3) : durationRound(value), rating, at }];
  });
}
