// The page of a trace: time columns, the critical path, focus, and layout.
import type { Page } from "@playwright/test";
import { DESK } from "./support/desk.ts";
import { at, expect, test } from "./support/fixtures.ts";

const drawer = (page: Page) => page.getByRole("complementary", { name: /^Span / });

test("every bar has its duration and own time beside it, including the longest", async ({ page, desk }) => {
  await page.goto(at(desk, `/traces/${DESK.slow}`));
  const rows = page.getByRole("treegrid").getByRole("row");
  await expect(rows).toHaveCount(4);
  const cells = (row: number) => rows.nth(row).getByRole("gridcell");
  await expect(cells(0).nth(1)).toHaveText("1.50 s");
  await expect(cells(0).nth(2)).toHaveText("200 ms");
  await expect(cells(2).nth(1)).toHaveText("1.00 s");
  const right = await cells(0).nth(1).boundingBox();
  const below = await cells(3).nth(1).boundingBox();
  expect(right && below && Math.abs(right.x + right.width - below.x - below.width)).toBeLessThan(1);
});

test("a slow trace opens at the worst span of its critical path, with the focus on the tree", async ({
  page,
  desk,
}) => {
  await page.goto(at(desk, "/traces"));
  await page.getByRole("table", { name: "Traces" }).getByRole("link", { name: "POST /slow" }).click();
  await expect(page).toHaveURL(new RegExp(`span=${DESK.worst}`));
  await expect(drawer(page)).toContainText("SELECT stock");
  await expect(page.getByRole("treegrid")).toBeFocused();
  const words = page.getByRole("status").filter({ hasText: "Critical path" });
  await expect(words).toContainText("Critical path 1.50 s, most of it in SELECT stock: 1.00 s of own time (66.7 %)");
  // audit ran in parallel with reserve: no span waited for it.
  const audit = page.getByRole("row", { name: /audit/ });
  await expect(audit.locator("[data-path]")).toHaveCount(0);
  await expect(page.getByRole("row", { name: /reserve/ }).locator("[data-path]")).toHaveCount(2);
  await page.keyboard.press("ArrowUp");
  await expect(drawer(page)).toContainText("reserve");
  await page.goBack();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Traces");
});

test("the header names the span with the most own time on the critical path", async ({ page, desk }) => {
  await page.goto(at(desk, "/traces?q=name:POST*slow"));
  await page.getByRole("table", { name: "Traces" }).getByRole("link", { name: "POST /slow" }).first().click();
  await expect(page.getByRole("treegrid")).toBeFocused();
  await expect(page).toHaveURL(/span=/);
  const header = page.locator("main header").first();
  await expect(header).toContainText("Most of the time: SELECT stock of stock, 1.00 s on the critical path");
});

for (const width of [1440, 1280, 720])
  test(`the filters keep their width and do not overlap while typing, ${width} px`, async ({ page, desk }) => {
    await page.setViewportSize({ width, height: 800 });
    for (const path of [`/traces/${DESK.slow}`, "/logs", "/traces"]) {
      await page.goto(at(desk, path));
      const box = page.locator("main [data-search]").first();
      await expect(box).toBeVisible();
      const before = (await box.boundingBox())?.width ?? 0;
      expect.soft(before, `${path}: width`).toBeGreaterThan(180);
      await box.fill("s");
      await box.press("Enter");
      await expect(page).toHaveURL(/[?&]q=s/);
      const after = (await box.boundingBox())?.width ?? 0;
      expect.soft(after, `${path}: width while typing`).toBeGreaterThan(180);
      expect.soft(await overlaps(page), `${path}: overlaps`).toEqual([]);
    }
  });

/** Overlapping controls beside the first search box. */
function overlaps(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const bar = document.querySelector("main [data-search]")?.closest("div.flex-wrap");
    const boxes = [...(bar?.querySelectorAll("input, select, fieldset, button") ?? [])]
      .filter((one) => !one.closest("fieldset") || one.matches("fieldset"))
      .filter((one) => !one.parentElement?.querySelector("[data-search]") || one.matches("[data-search]"))
      .map((one) => ({
        name: one.getAttribute("aria-label") ?? one.textContent ?? "",
        box: one.getBoundingClientRect(),
      }));
    const found: string[] = [];
    for (const [i, a] of boxes.entries())
      for (const b of boxes.slice(i + 1))
        if (
          a.box.left < b.box.right - 1 &&
          b.box.left < a.box.right - 1 &&
          a.box.top < b.box.bottom - 1 &&
          b.box.top < a.box.bottom - 1
        )
          found.push(`${a.name} / ${b.name}`);
    return found;
  });
}

for (const [name, viewport] of [
  ["a phone", { width: 390, height: 844 }],
  ["200 % zoom", { width: 720, height: 450 }],
] as const)
  test(`${name}: a row of Traces opens the waterfall, a tap on a span the drawer`, async ({ page, desk }) => {
    await page.setViewportSize(viewport);
    await page.goto(at(desk, "/traces"));
    await page.getByRole("table", { name: "Traces" }).getByRole("link", { name: "POST /slow" }).click();
    const tree = page.getByRole("treegrid");
    await expect(tree.getByRole("row", { selected: true })).toContainText("SELECT stock");
    await expect(drawer(page)).toHaveCount(0);
    await page.keyboard.press("ArrowUp");
    await expect(tree.getByRole("row", { selected: true })).toContainText("reserve");
    await expect(drawer(page)).toHaveCount(0);
    await tree.getByRole("link", { name: /SELECT stock/ }).click();
    await expect(drawer(page)).toContainText("SELECT stock");
    await page.getByRole("button", { name: "Close the span (Esc)" }).click();
    await expect(drawer(page)).toHaveCount(0);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await expect(drawer(page)).toBeVisible();
  });

test("attribute names break at dots and underscores", async ({ page, desk }) => {
  await page.goto(at(desk, `/traces/${DESK.slow}?span=${DESK.worst}`));
  const name = drawer(page).locator("dt", { hasText: "warehouse.reservation" });
  await expect(name).toHaveText("warehouse.reservation.coordinator_implementation_name");
  // The rendered text of each line.
  const lines = await name.evaluate((element) => {
    const range = document.createRange();
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const found: Record<number, string> = {};
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      for (let i = 0; i < (node.textContent?.length ?? 0); i++) {
        range.setStart(node, i);
        range.setEnd(node, i + 1);
        const top = Math.round(range.getBoundingClientRect().top);
        found[top] = (found[top] ?? "") + node.textContent?.[i];
      }
    return Object.values(found);
  });
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines.slice(0, -1)) expect(line).toMatch(/[._]$/);
});

test("a service has one colour on every page", async ({ page, desk }) => {
  const colour = async (path: string) => {
    await page.goto(at(desk, path));
    const mark = page.locator('[data-service="stock"]').first();
    await expect(mark).toBeVisible();
    return mark.evaluate((element) => getComputedStyle(element).backgroundColor);
  };
  // A trace in which stock takes the most time, lists, and a trace with stock only.
  const first = await colour(`/traces/${DESK.slow}`);
  expect(first).not.toBe("rgba(0, 0, 0, 0)");
  for (const path of ["/traces?all=1&service=stock", "/logs", `/traces/${"d2005".padStart(32, "0")}`])
    expect([path, await colour(path)]).toEqual([path, first]);
});
