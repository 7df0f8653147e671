// Monitors with a script: written in the form, run in a real browser of the server, with their output and their error.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serious } from "./support/axe.ts";
import { call } from "./support/call.ts";
import { at, expect, test } from "./support/fixtures.ts";
import { fits } from "./support/layout.ts";

let site: Server;
let url: string;
test.beforeEach(async () => {
  site = createServer((_, response) => {
    response.setHeader("Content-Type", "text/html");
    response.end("<title>Shop</title><h1>Orders</h1>");
  });
  await new Promise<void>((ready) => site.listen(0, "127.0.0.1", ready));
  url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/orders`;
});
test.afterEach(async ({ shop }) => {
  site.close();
  const query = `?projectId=${shop.project}`;
  const { checks } = await call<{ checks: { id: number }[] }>(shop, "GET", `/api/synthetics/checks${query}`);
  for (const { id } of checks) await call(shop, "DELETE", `/api/synthetics/checks/${id}${query}`);
});

test("a script is written, runs in a browser, and shows its output and its error", async ({ page, shop }) => {
  test.slow();
  await page.goto(at(shop, "/monitors"));
  await page.getByRole("button", { name: "New monitor" }).first().click();
  const form = page.getByRole("dialog", { name: "New monitor" });
  await form.getByLabel("Name", { exact: true }).fill("Orders");
  await form.getByLabel("Type", { exact: true }).selectOption("browser");
  await expect(form.getByLabel("Time limit in seconds")).toHaveValue("60");
  const script = `await page.goto(env.URL);\nconsole.log("title is", await page.title());\nawait expect(page.getByRole("heading")).toHaveText(env.TITLE, { timeout: 1000 });`;
  await form.getByLabel("Script").fill(script);
  const add = form.getByRole("button", { name: "Add variable" });
  await add.focus();
  await page.keyboard.press("Enter");
  await form.getByLabel("Name 1").fill("URL");
  await form.getByLabel("Value 1").fill(url);
  await add.click();
  await form.getByLabel("Name 2").fill("TITLE");
  await form.getByLabel("Value 2").fill("Orders");
  await add.click();
  await form.getByRole("button", { name: "Remove variable 3" }).click();
  await expect(add).toBeFocused();
  await form.getByLabel("Check every").selectOption("86400");
  await form.getByLabel("Down after failures").fill("1");
  expect.soft(await serious(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await form.getByRole("button", { name: "Create monitor" }).click();

  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Orders");
  const results = page.getByRole("table", { name: "Results" });
  await expect(results.getByRole("row").nth(1)).toContainText("up", { timeout: 60_000 });
  await expect(page.getByRole("figure", { name: "Duration" })).toBeVisible();
  await page.getByRole("button", { name: "Run now" }).click();
  await expect(page.locator("section", { hasText: "Output of the latest run" })).toContainText("title is Shop", {
    timeout: 60_000,
  });

  // Another script needs the variables again.
  await page.getByRole("button", { name: "Edit" }).click();
  const edit = page.getByRole("dialog", { name: "Edit Orders" });
  await expect(edit.getByLabel("Value 1")).toHaveValue("********");
  // By name.
  await expect(edit.getByLabel("Name 1")).toHaveValue("TITLE");
  await edit.getByLabel("Value 1").fill("Invoices");
  await edit.getByLabel("Value 2").fill(url);
  await edit.getByLabel("Script").fill(script);
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(edit).toHaveCount(0);
  const failed = results.getByRole("row").filter({ hasText: "line 3: expect(locator).toHaveText" }).first();
  await expect(failed).toBeVisible({ timeout: 60_000 });
  await failed.getByText("Output").click();
  await expect(failed.getByText('Received: "Orders"')).toBeVisible();
  expect.soft(await serious(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page);
});

test("a server without checks by a browser says so", async ({ page, shop }) => {
  const problem = "checks by a browser are off on this server (SYNTHETICS_BROWSER_MODE)";
  const query = `?projectId=${shop.project}`;
  const body = { name: "Orders", checkType: "browser", enabled: false, config: { script: "await page.title()" } };
  const { id } = await call<{ id: number }>(shop, "POST", `/api/synthetics/checks${query}`, body);
  await page.route("**/api/synthetics/overview*", async (route) => {
    const answer = await route.fetch();
    const json = await answer.json();
    json.browserProblem = problem;
    for (const { check } of json.checks) check.problem = problem;
    await route.fulfill({ response: answer, json });
  });
  await page.route(`**/api/synthetics/checks/${id}?*`, async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), problem } });
  });
  await page.goto(at(shop, "/monitors"));
  const row = page.getByRole("table", { name: "Monitors" }).getByRole("row").nth(1);
  await expect(row).toContainText(problem);
  await page.getByRole("button", { name: "New monitor" }).first().click();
  const form = page.getByRole("dialog", { name: "New monitor" });
  await form.getByLabel("Type", { exact: true }).selectOption("browser");
  await expect(form).toContainText(`This check would not work: ${problem}.`);
  expect.soft(await serious(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await row.getByRole("link").first().click();
  await expect(page.getByText(`It is not checked: ${problem}.`)).toBeVisible();
  expect.soft(await serious(page)).toEqual([]);
});
