// Axe is evaluated as text, because the CSP blocks script tags.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "@playwright/test";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Content outside all landmarks. A best practice of moderate impact in axe, so `serious` does not report it. */
export async function outsideLandmarks(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const axe = (window as unknown as { axe: { run: (root: Document, options: object) => Promise<Found> } }).axe;
    interface Found {
      violations: { nodes: { html: string }[] }[];
    }
    const { violations } = await axe.run(document, { runOnly: { type: "rule", values: ["region"] } });
    return violations.flatMap((one) => one.nodes.map((node) => node.html.slice(0, 200)));
  });
}

/** Until no animation or transition runs that has an end: what fades in has other colours than it will have. */
async function still(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const running = () =>
      document
        .getAnimations()
        .filter((one) => one.playState === "running" && Number.isFinite(one.effect?.getComputedTiming().endTime));
    for (let now = running(); now.length; now = running()) await Promise.allSettled(now.map((one) => one.finished));
  });
}

/** Serious and critical violations of WCAG 2.2 A and AA and of best practice, one line each; of the page, or within the
 * first element of a selector. */
export async function serious(page: Page, within?: string): Promise<string[]> {
  await still(page);
  await page.evaluate(AXE);
  const results = await page.evaluate(async (within) => {
    const axe = (
      window as unknown as {
        axe: {
          run: (
            root: Document | Element,
            options: object,
          ) => Promise<{
            violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
          }>;
        };
      }
    ).axe;
    const root = within ? document.querySelector(within) : document;
    if (!root) throw new Error(`nothing is ${within}`);
    const { violations } = await axe.run(root, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    });
    return violations.map((one) => ({
      id: one.id,
      impact: one.impact,
      where: one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 200)} :: ${node.failureSummary.slice(0, 300)}`),
    }));
  }, within);
  return results
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .map((one) => `${one.id}: ${one.where.join(" | ")}`);
}
