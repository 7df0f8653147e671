// The search for traces: conditions on any span, the scatter and its brush, bounded searches.
import type { Page } from "@playwright/test";
import { serious } from "./support/axe.ts";
import { DESK } from "./support/desk.ts";
import { at, expect, test } from "./support/fixtures.ts";

const table = (page: Page) => page.getByRole("table", { name: "Traces" });
const plot = (page: Page) => page.getByRole("application", { name: /^Traces by start and duration/ });

async function look(page: Page, query: string) {
  await page.getByRole("combobox", { name: "Search spans" }).fill(query);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL((url) => (url.searchParams.get("q") ?? "") === query);
}

test("conditions on several spans find a trace; a fault shows its place", async ({ page, desk, problems }) => {
  await page.goto(at(desk, "/traces"));
  const slow = table(page).getByRole("link", { name: "POST /slow" });
  const pay = table(page).getByRole("link", { name: "POST /pay" }).first();
  await expect(slow).toBeVisible();
  await expect(pay).toBeVisible();
  await look(page, "{service:front} >> {db.system.name:postgresql}");
  await expect(table(page).getByRole("row")).toHaveCount(2);
  const row = table(page).getByRole("row").nth(1);
  await expect(row).toContainText("1.50 s");
  // 1,000 ms of the query and 200 of reserve, 100 of it beside audit; 100 of audit, and 200 of the root.
  await expect(row.getByRole("img")).toHaveAttribute("aria-label", /^stock \d+ %, 2 spans; front \d+ %, 2 spans$/);
  await look(page, "{service:front} > {db.system.name:postgresql}");
  await expect(page.getByText("No traces match")).toBeVisible();
  await look(page, '{name:"POST /*"} !{service:stock}');
  await expect(page.getByText("No traces match")).toBeVisible();
  await look(page, "{service:front} !{service:stock}");
  await expect(pay).toBeVisible();
  await expect(slow).toHaveCount(0);
  await look(page, "{service:front} >");
  await expect(page.getByText(/^The query is wrong at position 17: a condition in braces/)).toBeVisible();
  // The browser logs the expected 400.
  problems.length = 0;
});

test("a box in the scatter filters the list, by mouse", async ({ page, desk }) => {
  await page.goto(at(desk, "/traces?from=now-1h"));
  await expect(table(page).getByRole("link", { name: "POST /slow" })).toBeVisible();
  const box = (await plot(page).boundingBox())!;
  // The upper half of the plot: traces of 40 ms are below it.
  await page.mouse.move(box.x + 60, box.y + 9);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 9, box.y + 80, { steps: 4 });
  await page.mouse.up();
  await expect(page).toHaveURL(/min=\d/);
  await expect(table(page).getByRole("link", { name: "POST /pay" })).toHaveCount(0);
  await expect(table(page).getByRole("link", { name: "POST /slow" })).toBeVisible();
  await page.getByRole("button", { name: "Clear the selection" }).click();
  await expect(table(page).getByRole("link", { name: "POST /pay" }).first()).toBeVisible();
});

test("a box in the scatter filters the list, by keyboard; the table has the same traces", async ({ page, desk }) => {
  await page.goto(at(desk, "/traces?from=now-1h"));
  await expect(table(page)).toBeVisible();
  await plot(page).focus();
  for (const key of ["ArrowRight", "ArrowLeft"]) await page.keyboard.press(key);
  for (let i = 0; i < 30; i++) await page.keyboard.press("Shift+ArrowRight");
  await expect(page.locator("[data-brush]")).toBeVisible();
  await expect(page.getByRole("status").filter({ hasText: /and longer: \d+ traces?$/ })).toHaveCount(1);
  await page.keyboard.press("Escape");
  await expect(page.locator("[data-brush]")).toHaveCount(0);
  await page.keyboard.press("ArrowUp");
  for (let i = 0; i < 30; i++) await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/min=\d.*from=20|from=20.*min=\d/);
  await page.goBack();
  await page.getByRole("button", { name: "View Traces by start and duration as table" }).click();
  await expect(page.getByRole("region", { name: "Traces by start and duration, table" })).toContainText("1.50 s");
});

test("a bounded search says from when on it is complete; the page has no axe finding", async ({ page, desk }) => {
  await page.route("**/api/traces/search*", async (route) => {
    const answer = await route.fetch();
    const body = await answer.json();
    await route.fulfill({
      response: answer,
      json: { ...body, complete: false, completeAfter: "2026-11-23T09:04:00Z" },
    });
  });
  await page.goto(at(desk, "/traces"));
  await expect(page.getByRole("note")).toContainText("Traces that started after");
  expect(await serious(page)).toEqual([]);
  await table(page).getByRole("link", { name: "POST /slow" }).click();
  await expect(page).toHaveURL(new RegExp(`/traces/${DESK.slow}`));
});
