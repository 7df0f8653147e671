// What a page's layout hides from its reader, in both themes and on both sizes, in one visit.
import type { Page } from "@playwright/test";
import { serious } from "./axe.ts";
import { expect } from "./base.ts";
import { settled, still } from "./settled.ts";

export const SIZES = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };
type Size = keyof typeof SIZES;
type Theme = "light" | "dark";

interface Looks {
  sizes?: Size[];
  themes?: Theme[];
  /** While responses are held back. */
  loading?: boolean;
  /** Without axe: the same elements with other content. */
  onlyLayout?: boolean;
}

/** In these sizes and themes: axe finds nothing serious, the page is as wide as the window, and no word is cut off.
 * A phone shows only the last theme: what depends on the theme does not depend on the size. With one theme, axe reads
 * only the first size. SCREENS=1 stores a screenshot of each in test-results/screens. */
export async function look(page: Page, name: string, looks: Looks = {}): Promise<void> {
  const { sizes = ["desktop", "phone"], themes = ["light", "dark"], loading = false, onlyLayout = false } = looks;
  for (const size of sizes) {
    await page.setViewportSize(SIZES[size]);
    const isFirst = size === sizes[0];
    for (const theme of isFirst ? themes : themes.slice(-1)) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      await (loading ? still(page) : settled(page));
      const about = `${name}, ${size}, ${theme}`;
      if (process.env.SCREENS)
        await page.screenshot({ path: `test-results/screens/${about.replaceAll(", ", "-")}.png` });
      if (onlyLayout || (!isFirst && themes.length === 1)) continue;
      const colours = isFirst && theme !== themes[0];
      expect.soft(await serious(page, { loading, colours }), `${about}: axe`).toEqual([]);
    }
    expect.soft(await wider(page), `${name}, ${size}: wider than the window`).toEqual([]);
    expect.soft(await cutOff(page), `${name}, ${size}: cut off`).toEqual([]);
    expect.soft(await below(page), `${name}, ${size}: the document scrolls beside its main part`).toBe(0);
  }
  await page.setViewportSize(SIZES[sizes[0]]);
  await page.emulateMedia({ colorScheme: themes[0] });
}

/** The settled page is as wide as the window. */
export async function fits(page: Page, about?: string): Promise<void> {
  await settled(page);
  expect(await wider(page), about).toEqual([]);
}

/** Elements past the right edge, if the page or its main part scrolls sideways. */
export function wider(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const main = document.querySelector("main");
    const isWide = document.documentElement.scrollWidth > innerWidth + 1;
    if (!isWide && (!main || main.scrollWidth <= main.clientWidth + 1)) return [];
    const end = main ? main.getBoundingClientRect().left + main.clientWidth + 1 : innerWidth + 1;
    const past = [...(main ?? document.body).querySelectorAll("*")].filter(
      (one) => one.getBoundingClientRect().right > end,
    );
    return ["main", ...past.map((one) => one.outerHTML)].map((one) => one.slice(0, 160)).slice(0, 8);
  });
}

/** Pixels below the window, of a page whose main part scrolls. */
function below(page: Page): Promise<number> {
  return page.evaluate(() => {
    const main = document.querySelector("main");
    if (!main || getComputedStyle(main).overflowY !== "auto") return 0;
    return document.documentElement.scrollHeight - innerHeight;
  });
}

/** Widths of the cells that identify rows, and heights of their rows, pixels. */
export function rowBoxes(page: Page): Promise<{ widths: number[]; heights: number[] }> {
  return page.evaluate(() => {
    const names = [...document.querySelectorAll("main table.cards tbody :is(.name-cell, .identifies)")];
    const box = (one: Element | null | undefined) => one?.getBoundingClientRect();
    return {
      widths: names.map((name) => box(name.closest("td"))?.width ?? 0),
      heights: names.map((name) => box(name.closest("tr"))?.height ?? 0),
    };
  });
}

/** Words that a box with hidden overflow cuts off sideways, without scrolling: without an ellipsis, or before it could
 * show a word. */
export function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(node);
      const at = range.getBoundingClientRect();
      if (!node.textContent?.trim() || !at.width) continue;
      let box = node.parentElement;
      while (box && getComputedStyle(box).overflowX === "visible") box = box.parentElement;
      if (!box) continue;
      const style = getComputedStyle(box);
      const edge = box.getBoundingClientRect();
      // What is for screen readers only is in a box of one pixel, at another place.
      if (style.overflowX !== "hidden" || style.clipPath !== "none") continue;
      const hasEllipsis = style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none";
      const isCut = at.left < edge.left - 1 || at.right > edge.right + 1;
      if (isCut && (!hasEllipsis || edge.width < 16)) found.push(node.textContent.slice(0, 80));
    }
    return found;
  });
}
