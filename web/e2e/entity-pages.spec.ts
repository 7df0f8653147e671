// Pages of endpoints, tasks and AI names beyond statistics, and the drawers of lists, over the real server.
import type { Page } from "@playwright/test";
import { serious } from "./support/axe.ts";
import { at, expect, test } from "./support/fixtures.ts";

const drawer = (page: Page) => page.getByRole("complementary", { name: /^Summary of the / });

test("an endpoint's page shows where the time goes, its issues, its logs and its samples", async ({ page, shop }) => {
  await page.goto(at(shop, "/endpoints/POST%20%2Fcheckout"));
  const time = page.getByRole("list", { name: "Own time by operation" });
  await expect(time.getByRole("listitem").first()).toBeVisible();
  await expect(page.getByText(/^Mean of all \d/)).toBeVisible();
  await page.getByRole("group", { name: "Own time by" }).getByRole("button", { name: "Service" }).click();
  await expect(page).toHaveURL(/time=service/);
  await expect(page.getByRole("list", { name: "Own time by service" }).getByRole("listitem").first()).toBeVisible();
  await page.goBack();
  // An operation is a link to the traces in which it ran.
  await time.getByRole("link").last().click();
  await expect(page).toHaveURL(/\/traces\?/);
  await expect(page.getByRole("table", { name: "Traces" }).getByRole("link").first()).toBeVisible();
  await page.goBack();

  await expect(
    page.getByRole("table", { name: "Latest logs of POST /checkout" }).getByRole("row").first(),
  ).toBeVisible();
  await page.getByRole("link", { name: "Open in Logs" }).click();
  await expect(page.getByRole("table", { name: "Logs", exact: true }).getByRole("row").first()).toBeVisible();
  await page.goBack();

  const samples = page.getByRole("navigation", { name: "Which requests" });
  const table = page.getByRole("table", { name: "Requests" });
  await expect(table.getByRole("row").nth(1)).toBeVisible();
  for (const kind of ["Latest", "Errors", "Typical"]) {
    await samples.getByRole("link", { name: kind }).click();
    await expect(page).toHaveURL(new RegExp(`tab=${kind.toLowerCase()}`));
    await expect(samples.getByRole("link", { name: kind })).toHaveAttribute("aria-current", "page");
  }
  await page.reload();
  await expect(samples.getByRole("link", { name: "Typical" })).toHaveAttribute("aria-current", "page");
  expect.soft(await serious(page)).toEqual([]);

  // The exceptions are those of the nearest endpoint above.
  await expect(page.getByText("No exception occurred here in this time range.")).toBeVisible();
  await page.goto(at(shop, "/endpoints/POST%20%2Fcharge"));
  const issues = page.getByRole("table", { name: "Issues", exact: true });
  await expect(issues.getByRole("link", { name: "CardDeclined" })).toBeVisible();
  await page.getByRole("link", { name: "All its issues" }).click();
  await expect(page.getByRole("table", { name: /^Issues/ }).getByRole("link", { name: "CardDeclined" })).toBeVisible();
});

for (const [path, name] of [
  ["/endpoints", /^Endpoints/],
  ["/tasks", /^Tasks/],
  ["/ai", /^AI traces/],
  ["/issues", /^Issues/],
  ["/traces", /^Traces/],
  ["/logs", /^Logs/],
] as const) {
  test(`a row of ${path} opens a drawer by keyboard`, async ({ page, shop }) => {
    await page.goto(at(shop, path));
    const table = page.getByRole("table", { name });
    const links = table.locator("[data-row-link]");
    await expect(links.first()).toBeVisible();
    await page.keyboard.press("j");
    await expect(links.first()).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/sel=/);
    const heading = drawer(page).getByRole("heading", { level: 2 }).first();
    await expect(heading).toBeFocused();
    expect.soft(await serious(page)).toEqual([]);
    const first = new URL(page.url()).searchParams.get("sel");
    if ((await links.count()) > 1) {
      await page.keyboard.press("]");
      await expect.poll(() => new URL(page.url()).searchParams.get("sel")).not.toBe(first);
      await page.keyboard.press("[");
      await expect.poll(() => new URL(page.url()).searchParams.get("sel")).toBe(first);
    }
    // The address has the drawer.
    await page.reload();
    await expect(drawer(page)).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(drawer(page)).toHaveCount(0);
    await expect(page).not.toHaveURL(/sel=/);
    await expect(links.first()).toBeFocused();
  });
}

test("arrow keys move between rows; a click still opens the page", async ({ page, shop }) => {
  await page.goto(at(shop, "/endpoints"));
  const links = page.getByRole("table", { name: /^Endpoints/ }).locator("[data-row-link]");
  await links.first().focus();
  await page.keyboard.press("ArrowDown");
  await expect(links.nth(1)).toBeFocused();
  await page.keyboard.press("ArrowUp");
  await expect(links.first()).toBeFocused();
  await links.first().click();
  await expect(page).toHaveURL(/\/endpoints\/./);
});

test("on a phone the drawer covers the page", async ({ page, shop }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(at(shop, "/endpoints?sel=POST%20%2Fcheckout"));
  await expect(drawer(page)).toBeVisible();
  expect(await drawer(page).boundingBox()).toMatchObject({ x: 0, y: 0, width: 390, height: 844 });
  await drawer(page)
    .getByRole("button", { name: /^Close/ })
    .click();
  await expect(drawer(page)).toHaveCount(0);
});
