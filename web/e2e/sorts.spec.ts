// Every column that a list offers to sort by, in both directions: the server answers each.
import type { Page } from "@playwright/test";
import { at, expect, test } from "./support/fixtures.ts";
import { uploadMap } from "./support/symbols.ts";

/** The lists, with the request that fills them; `open` goes on to the page of the first name. */
const LISTS: { path: string; asks: string; open?: boolean }[] = [
  { path: "/endpoints", asks: "/api/endpoints/grouped" },
  { path: "/endpoints", asks: "/api/endpoints/endpoint", open: true },
  { path: "/tasks", asks: "/api/tasks/grouped" },
  { path: "/tasks", asks: "/api/tasks/task", open: true },
  { path: "/ai?calls=all", asks: "/api/ai-traces/grouped" },
  { path: "/ai?calls=all", asks: "/api/ai-traces/trace", open: true },
  { path: "/issues", asks: "/api/exception-stack-traces" },
  { path: "/traces", asks: "/api/spans" },
  { path: "/settings/symbols", asks: "/api/symbols" },
];
const MAP = '{"version":3,"sources":["sorts.ts"],"names":[],"mappings":"AAAA;EAEE"}';
const STACK = "TypeError: no\n    at t (https://shop.example/assets/sorts.min.js:2:5)";

/** The status of each order that was asked for, as the URL of the page names orders. */
function answers(page: Page, asks: string): Map<string, number> {
  const found = new Map<string, number>();
  page.on("response", (response) => {
    const url = new URL(response.url());
    if (url.pathname !== asks) return;
    const asked = response.request().postDataJSON() ?? Object.fromEntries(url.searchParams);
    found.set(`${asked.sortDirection === "desc" ? "-" : ""}${asked.orderBy}`, response.status());
  });
  return found;
}

for (const { path, asks, open } of LISTS)
  test(`every column of ${asks} sorts`, async ({ page, desk }) => {
    if (asks === "/api/symbols") await uploadMap(desk, "assets/sorts.min.js.map", MAP, STACK);
    const answered = answers(page, asks);
    await page.goto(at(desk, path));
    if (open) await page.locator("tbody a[data-row-link]").first().click();
    await expect.poll(() => [...answered.values()]).toEqual([200]);
    const heads = page.getByRole("columnheader").filter({ has: page.getByRole("link") });
    const columns = await heads.allInnerTexts();
    expect(columns.length).toBeGreaterThan(1);
    for (const column of columns)
      for (let click = 0; click < 2; click++) {
        const head = page.getByRole("columnheader", { name: column, exact: true });
        const before = await head.getAttribute("aria-sort");
        await head.getByRole("link").click();
        await expect(head).toHaveAttribute("aria-sort", before === "descending" ? "ascending" : /descending|ascending/);
        const order = new URL(page.url()).searchParams.get("sort") ?? "";
        await expect.poll(() => answered.get(order), `${asks} by ${order}`).toBe(200);
      }
    expect([...new Set(answered.values())]).toEqual([200]);
    expect(answered.size).toBeGreaterThanOrEqual(2 * columns.length);
  });
