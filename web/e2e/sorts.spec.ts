// Every sortable column of every list, in both directions: the server accepts each order.
import type { Page } from "@playwright/test";
import { at, expect, test } from "./support/fixtures.ts";
import { uploadMap } from "./support/symbols.ts";

/** The lists, with the API path of their request. `open` opens the page of the first name. */
const LISTS: { path: string; api: string; open?: boolean }[] = [
  { path: "/endpoints", api: "/api/endpoints/grouped" },
  { path: "/endpoints", api: "/api/endpoints/endpoint", open: true },
  { path: "/tasks", api: "/api/tasks/grouped" },
  { path: "/tasks", api: "/api/tasks/task", open: true },
  { path: "/ai?calls=all", api: "/api/ai-traces/grouped" },
  { path: "/ai?calls=all", api: "/api/ai-traces/trace", open: true },
  { path: "/ai?by=model", api: "/api/ai-traces/grouped" },
  { path: "/ai?by=conversation", api: "/api/ai-conversations/grouped" },
  { path: "/ai?by=user", api: "/api/ai-users/grouped" },
  { path: "/issues", api: "/api/exception-stack-traces" },
  { path: "/traces", api: "/api/traces/search" },
  { path: "/traces?all=1", api: "/api/spans" },
  { path: "/settings/symbols", api: "/api/symbols" },
];
const MAP = '{"version":3,"sources":["sorts.ts"],"names":[],"mappings":"AAAA;EAEE"}';
const STACK = "TypeError: no\n    at t (https://shop.example/assets/sorts.min.js:2:5)";

/** The response status of each requested order, keyed by its name in the page's URL. */
function answers(page: Page, api: string): Map<string, number> {
  const found = new Map<string, number>();
  page.on("response", (response) => {
    const url = new URL(response.url());
    if (url.pathname !== api) return;
    const body = response.request().postDataJSON() ?? Object.fromEntries(url.searchParams);
    found.set(`${body.sortDirection === "desc" ? "-" : ""}${body.orderBy}`, response.status());
  });
  return found;
}

for (const { path, api, open } of LISTS)
  test(`every column of ${api} sorts, ${path}`, async ({ page, desk }) => {
    if (api === "/api/symbols") await uploadMap(desk, "assets/sorts.min.js.map", MAP, STACK);
    const answered = answers(page, api);
    await page.goto(at(desk, path));
    if (open) await page.locator("tbody a[data-row-link]").first().click();
    // The page of one name also lists its samples by the time they started, and by their duration.
    await expect.poll(() => [...new Set(answered.values())]).toEqual([200]);
    const heads = page.getByRole("columnheader").filter({ has: page.getByRole("link") });
    await expect(heads.nth(1)).toBeVisible();
    const columns = await heads.allInnerTexts();
    for (const column of columns)
      for (let click = 0; click < 2; click++) {
        const head = page.getByRole("columnheader", { name: column, exact: true });
        const before = await head.getAttribute("aria-sort");
        await head.getByRole("link").click();
        await expect(head).toHaveAttribute("aria-sort", before === "descending" ? "ascending" : /descending|ascending/);
        const order = new URL(page.url()).searchParams.get("sort") ?? "";
        await expect.poll(() => answered.get(order), `${api} by ${order}`).toBe(200);
      }
    expect([...new Set(answered.values())]).toEqual([200]);
    expect(answered.size).toBeGreaterThanOrEqual(2 * columns.length);
  });
