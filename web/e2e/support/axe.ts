// Axe is evaluated as text, because the CSP blocks script tags.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "@playwright/test";
import { settled, still } from "./settled.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}
interface Axe {
  run: (root: Document | Element, options: object) => Promise<{ violations: Violation[] }>;
}

/** Violations of rules, or of rules with tags; of the page, or within the first element of a selector. */
async function violations(page: Page, runOnly: string[], within?: string): Promise<Violation[]> {
  const isLoaded = await page.evaluate(() => "axe" in window);
  if (!isLoaded) await page.evaluate(AXE);
  return page.evaluate(
    async ({ runOnly, within }) => {
      const { axe } = window as unknown as { axe: Axe };
      const root = within ? document.querySelector(within) : document;
      if (!root) throw new Error(`nothing is ${within}`);
      const options = { runOnly, resultTypes: ["violations"], iframes: false, preload: false };
      const { violations } = await axe.run(root, options);
      return violations.map(({ id, impact, nodes }) => ({
        id,
        impact,
        nodes: nodes.map(({ html, failureSummary }) => ({ html, failureSummary })),
      }));
    },
    { runOnly, within },
  );
}

/** Content outside all landmarks. A best practice of moderate impact in axe, so `serious` does not report it. */
export async function outsideLandmarks(page: Page): Promise<string[]> {
  await settled(page);
  const found = await violations(page, ["region"]);
  return found.flatMap((one) => one.nodes.map((node) => node.html.slice(0, 200)));
}

const LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** The rules that depend on the theme. */
const COLOURS = ["color-contrast", "link-in-text-block"];

interface Extent {
  /** The first element of this selector, not the whole page. */
  within?: string;
  /** Only rules on colours: in another theme nothing else differs. */
  colours?: boolean;
  /** While responses are held back. */
  loading?: boolean;
}

/** Serious and critical violations of WCAG 2.2 A and AA and of best practice, one line each, when the page is settled. */
export async function serious(page: Page, { within, colours, loading }: Extent = {}): Promise<string[]> {
  await (loading ? still(page) : settled(page));
  const found = await violations(page, colours ? COLOURS : LEVELS, within);
  const where = (one: Violation) =>
    one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 200)} :: ${node.failureSummary.slice(0, 300)}`);
  return found
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .map((one) => `${one.id}: ${where(one).join(" | ")}`);
}
