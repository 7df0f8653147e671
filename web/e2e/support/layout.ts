// What a page's layout hides from its reader.
import type { Page } from "@playwright/test";

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
