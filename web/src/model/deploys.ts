// Deploys on the time axis of a chart.

import { clockMinutes, parseMs } from "./time";
import type { Deploy } from "./types";

export interface DeployMark {
  /** Pixels from the left of the plot. */
  left: number;
  /** In chronological order; more than one when they are too close to be distinguished. */
  deploys: Deploy[];
}

/** Marks closer than this are one, in pixels: each is a target of a pointer. */
const APART = 24;

/** A deploy is marked when it replaced a version or was reported: everything is first seen when data begins. */
export function isMarked(deploy: Deploy): boolean {
  return deploy.previous !== null || deploy.reported;
}

/** The marks of a plot of `width` pixels over the time from `fromMs` to `toMs`. */
export function deployMarks(deploys: Deploy[], fromMs: number, toMs: number, width: number): DeployMark[] {
  const marks: DeployMark[] = [];
  const shown = deploys
    .filter(isMarked)
    .map((deploy) => ({ deploy, ms: parseMs(deploy.time) }))
    .filter(({ ms }) => fromMs <= ms && ms < toMs)
    .sort((one, other) => one.ms - other.ms);
  for (const { deploy, ms } of shown) {
    const left = ((ms - fromMs) / (toMs - fromMs)) * width;
    const last = marks.at(-1);
    if (last && left - last.left < APART) last.deploys.push(deploy);
    else marks.push({ left, deploys: [deploy] });
  }
  return marks;
}

/** "checkout 1.42.0 in production at 09:04, before 1.41.0". */
export function deployWords(deploy: Deploy): string {
  const service = deploy.service || "(no service)";
  const place = deploy.environment ? ` in ${deploy.environment}` : "";
  const before = deploy.previous ? `, before ${deploy.previous}` : "";
  return `${service} ${deploy.version}${place} at ${clockMinutes(parseMs(deploy.time))}${before}`;
}
