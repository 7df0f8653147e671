// Comparisons with another period: dashed lines, differences with sample counts, no percentage on few samples.
import { serious } from "./support/axe.ts";
import { at, expect, test } from "./support/fixtures.ts";

test("endpoints: differences have sample counts, and the comparison stays in the URL", async ({ page, desk }) => {
  await page.route("**/api/compare?*", async (route) => {
    const { names } = route.request().postDataJSON() as { names: string[] };
    const data = names.map((name) => ({
      name,
      count: 12,
      storedCount: 12,
      p50Duration: 4e7,
      p95Duration: 5e7,
      p99Duration: 6e7,
      errorCount: 1,
      totalCost: null,
    }));
    await route.fulfill({ json: { data } });
  });
  await page.goto(at(desk, "/endpoints"));
  const table = page.getByRole("table", { name: /^Endpoints/ });
  await expect(table.getByRole("columnheader", { name: "Calls before" })).toHaveCount(0);
  await page.getByRole("combobox", { name: "Compare with" }).selectOption("previous");
  await expect(page).toHaveURL(/cmp=previous/);
  const row = table.getByRole("row", { name: /POST \/pay/ });
  await expect(row).toContainText("before 40.0 ms");
  await expect(row).toContainText("1 of 12");
  await expect(row).not.toContainText(/[+−]\d+ %|×/);
  expect.soft(await serious(page)).toEqual([]);
  await row.getByRole("link").first().click();
  await expect(page).toHaveURL(/endpoints\/POST.*cmp=previous/);
  await expect(page.getByLabel("Compared", { exact: true })).toContainText("before 12");
  await expect(page.getByRole("figure", { name: "Calls" })).toBeVisible();
  await page.getByRole("combobox", { name: "Compare with" }).selectOption("");
  await expect(page).not.toHaveURL(/cmp=/);
});

test("the same time last week has nothing in a young project", async ({ page, desk }) => {
  await page.goto(at(desk, "/endpoints?cmp=week"));
  await expect(page.getByRole("combobox", { name: "Compare with" })).toHaveValue("week");
  const row = page.getByRole("table", { name: /^Endpoints/ }).getByRole("row", { name: /POST \/pay/ });
  await expect(row).toContainText("new");
});

test("calls are split by status, and the choice is in the URL", async ({ page, desk }) => {
  await page.goto(at(desk, `/endpoints/${encodeURIComponent("POST /pay")}`));
  const calls = page.getByRole("figure", { name: "Calls" });
  await calls.getByRole("combobox", { name: "Split by" }).selectOption("status");
  await expect(calls.getByRole("listitem").filter({ hasText: "402" })).toBeVisible();
  await expect(calls.getByRole("listitem").filter({ hasText: "200" })).toBeVisible();
  await expect(page).toHaveURL(/split=status/);
  expect.soft(await serious(page)).toEqual([]);
  await calls.getByRole("combobox", { name: "Split by" }).selectOption("");
  await expect(page).not.toHaveURL(/split=/);
});
