// The views of one trace besides the waterfall: flame graph, table of spans, map of services, logs, AI, windows.
import { serious } from "./support/axe.ts";
import { DESK } from "./support/desk.ts";
import { at, expect, test } from "./support/fixtures.ts";
import { CHECKOUT } from "./support/seed.ts";

test("the spans of a trace are a table, sorted by own time", async ({ page, desk }) => {
  await page.goto(at(desk, `/traces/${DESK.slow}`));
  const views = page.getByRole("navigation", { name: "Views of the trace" });
  await views.getByRole("link", { name: "Spans" }).click();
  const table = page.getByRole("table", { name: "Spans, 4 spans" });
  await expect(table.getByRole("columnheader", { name: "Own time" })).toHaveAttribute("aria-sort", "descending");
  // reserve: 1,300 ms less 1,000 of the query, less half of the 100 ms beside audit.
  await expect(table.getByRole("row").nth(1)).toContainText("SELECT stock");
  await table.getByRole("link", { name: "Own time" }).click();
  await expect(page).toHaveURL(/sort=own/);
  await expect(table.getByRole("row").nth(4)).toContainText("SELECT stock");
  await table.getByRole("link", { name: "SELECT stock" }).click();
  await expect(page).toHaveURL(new RegExp(`span=${DESK.worst}`));
  await expect(page.getByRole("treegrid")).toBeVisible();
});

test("own times by operation add up; the map shows the calls, also as a table", async ({ page, desk }) => {
  await page.goto(at(desk, `/traces/${DESK.slow}`));
  await page.getByText("Time by operation").click();
  await expect(page.getByRole("list", { name: "Time by operation" }).getByRole("listitem").first()).toContainText(
    /SELECT stock stock.*1 span$/,
  );
  await page.getByRole("navigation", { name: "Views of the trace" }).getByRole("link", { name: "Map" }).click();
  await expect(page.getByRole("figure", { name: "Services of this trace" })).toContainText("front calls stock 1 time");
  await page.getByRole("button", { name: "View Services of this trace as table" }).click();
  await expect(page.getByRole("region", { name: "Services of this trace, table" })).toContainText("stock");
});

test("the flame graph opens the longest span of a box by keyboard", async ({ page, desk }) => {
  await page.goto(at(desk, `/traces/${DESK.slow}?tab=flame`));
  const graph = page.getByRole("application", { name: /^Flame graph of 4 spans/ });
  await graph.focus();
  for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowDown");
  await expect(page.getByText(/^SELECT stock · stock: .* of own time, 1 span$/).first()).toBeVisible();
  await page.keyboard.press(" ");
  await expect(page).toHaveURL(new RegExp(`span=${DESK.worst}`));
});

test("a log under the pointer has its time and span on the overview", async ({ page, shop }) => {
  await page.goto(at(shop, `/traces/${CHECKOUT}?tab=logs`));
  const logs = page.getByRole("table", { name: "Logs of this trace" });
  await logs.getByRole("row").first().hover();
  await expect(page.locator("[data-time]")).toBeVisible();
  await expect(page.getByText(/^\+.*during|while no span ran/)).toBeVisible();
});

test("no view has a finding of axe", async ({ page, shop }) => {
  for (const tab of ["flame", "spans", "map", "logs", "issues", "ai"]) {
    await page.goto(at(shop, `/traces/${CHECKOUT}?tab=${tab}`));
    await expect(
      page.getByRole("navigation", { name: "Views of the trace" }).locator("[aria-current=page]"),
    ).toBeVisible();
    expect.soft(await serious(page), tab).toEqual([]);
  }
});

test("a trace that comes in windows says which spans are shown, and links to the others", async ({ page, desk }) => {
  await page.route("**/api/traces/*/columns*", async (route) => {
    const { offset = 0 } = route.request().postDataJSON();
    const answer = await route.fetch({ postData: JSON.stringify({}) });
    const body = await answer.json();
    const status = { state: "partial", reasons: ["span_limit"], total: 30_000, shown: offset ? 10_000 : 20_000 };
    await route.fulfill({ response: answer, json: { ...body, offset, spanGraphStatus: status } });
  });
  await page.goto(at(desk, `/traces/${DESK.slow}`));
  const parts = page.getByRole("navigation", { name: "Parts of the trace" });
  await expect(parts).toContainText("Spans 1 to 20,000 of 30,000");
  await parts.getByRole("link", { name: "Further spans" }).click();
  await expect(parts).toContainText("Spans 20,001 to 30,000 of 30,000");
  await parts.getByRole("link", { name: "Earlier spans" }).click();
  await expect(parts).toContainText("Spans 1 to 20,000 of 30,000");
});
