// What a page's layout hides from its reader.
import type { Page } from "@playwright/test";

/** Texts that a box with hidden overflow cuts off sideways, without scrolling: without an ellipsis, or before it could
 * show a word. */
export function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(text);
      const at = range.getBoundingClientRect();
      if (!text.textContent?.trim() || !at.width) continue;
      let box = text.parentElement;
      while (box && getComputedStyle(box).overflowX === "visible") box = box.parentElement;
      if (!box) continue;
      const style = getComputedStyle(box);
      const edge = box.getBoundingClientRect();
      // Text for screen readers is in a box of one pixel, at another place.
      if (style.overflowX !== "hidden" || style.clipPath !== "none") continue;
      const hasEllipsis = style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none";
      const isCut = at.left < edge.left - 1 || at.right > edge.right + 1;
      if (isCut && (!hasEllipsis || edge.width < 16)) found.push(text.textContent.slice(0, 80));
    }
    return found;
  });
}
