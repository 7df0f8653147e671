// Lists and statistics: searches, errors, rates, shares, costs.
import { readFileSync } from "node:fs";
import { at, expect, test } from "./support/fixtures.ts";

test("traces are found by the service or an attribute of any of their spans", async ({ page, desk }) => {
  await page.goto(at(desk, "/traces"));
  const table = page.getByRole("table", { name: "Traces" });
  await page.getByRole("button", { name: /^Services: All/ }).click();
  await page.getByRole("checkbox", { name: "stock" }).check();
  await page.keyboard.press("Escape");
  await expect(table.getByRole("link", { name: "POST /slow" })).toBeVisible();
  await expect(table.getByRole("link", { name: "POST /pay" })).toHaveCount(0);
  await page.getByRole("button", { name: /^Services: stock/ }).click();
  await page.getByRole("button", { name: "All services" }).click();
  await page.keyboard.press("Escape");
  await page.getByRole("combobox", { name: "Search spans" }).fill("db.system.name:postgresql");
  await page.keyboard.press("Enter");
  await expect(table.getByRole("row")).toHaveCount(2);
  await expect(table.getByRole("link", { name: "POST /slow" })).toBeVisible();
});

test("tasks sorted by name", async ({ page, desk }) => {
  await page.goto(at(desk, "/tasks"));
  const table = page.getByRole("table", { name: /^Tasks/ });
  await table.getByRole("link", { name: "Task", exact: true }).click();
  await expect(page).toHaveURL(/sort=task_name/);
  await expect(table.locator("tbody").getByRole("row").first()).toContainText("ant process");
  await table.getByRole("link", { name: "Task", exact: true }).click();
  await expect(table.locator("tbody").getByRole("row").first()).toContainText("zebra process");
});

const statistic = (label: string) => ({ label, selector: `dt:text-is("${label}") + dd` });

test("refused payments are no server errors; the rate covers only the time with data", async ({ page, desk }) => {
  await page.goto(at(desk, "/endpoints"));
  const row = page.getByRole("row", { name: /POST \/pay/ });
  await expect(row).toContainText("0 %");
  await expect(page.getByRole("columnheader", { name: "Apdex (0.75 s, 1.5 s)" })).toBeVisible();
  await row.getByRole("link", { name: "POST /pay" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("POST /pay");
  for (const [label, value] of [
    ["Calls", "11"],
    ["Server errors", "0 %"],
    ["Client errors", "36.4 %"],
  ])
    await expect(page.locator(statistic(label).selector)).toHaveText(value);
  // Eleven calls in the ten minutes with data (the first is known to the minute), not in a day.
  await expect(page.locator(statistic("Per minute").selector)).toHaveText(/^1(\.0\d|\.1)?$/);
  await expect(page.getByText("Apdex (0.5 s, 2 s)")).toBeVisible();
});

test("an endpoint without calls shows dashes; an unknown endpoint is not found", async ({ page, desk, problems }) => {
  await page.goto(at(desk, "/endpoints/POST%20%2Fpay?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z"));
  await expect(page.locator(statistic("Calls").selector)).toHaveText("0");
  for (const label of ["Per minute", "Usual (p50)", "Slow (p95)", "Slowest (p99)", "Server errors", "Client errors"])
    await expect(page.locator(statistic(label).selector)).toHaveText("–");
  for (const [path, what] of [
    ["/endpoints/GET%20%2Fnever", "endpoint"],
    ["/tasks/never", "task"],
    ["/ai/never", "AI trace"],
  ]) {
    await page.goto(at(desk, path));
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(`No ${what} of this name`);
  }
  // The browser logs the expected 404s as console errors.
  problems.length = 0;
});

test("an issue's tag shares are relative to its events, and the number of values is shown", async ({ page, desk }) => {
  await page.goto(at(desk, "/issues"));
  await page.getByRole("link", { name: "OutOfStock", exact: true }).click();
  const spread = page.getByRole("region", { name: "Spread over tags" });
  await expect(spread).toContainText("over 40 events");
  const tag = spread.locator("div", { has: page.getByRole("heading", { name: "user.id" }) }).last();
  await expect(tag.getByRole("listitem").first()).toContainText("2.5 %");
  await expect(tag).toContainText("and 25 more values, not set on 25 %");
});

test("tool runs are not model calls; costs have four digits; the conversation is a link", async ({ page, desk }) => {
  await page.goto(at(desk));
  await expect(page.getByRole("link", { name: /AI calls/ })).toContainText("3");
  await page.goto(at(desk, "/ai"));
  const table = page.getByRole("table", { name: /^AI traces/ });
  await expect(table.locator("tbody").getByRole("row")).toHaveCount(1);
  await expect(table).toContainText("$0.03704");
  await expect(table).toContainText("$0.01235");
  await page.getByRole("button", { name: "Tool runs" }).click();
  await expect(table).toContainText("execute_tool find_order");
  await expect(table).not.toContainText("unpriced");
  await expect(table.getByRole("columnheader", { name: "Cost" })).toHaveCount(0);
  await expect(page.getByRole("figure", { name: "Calls" })).toContainText("execute_tool find_order");
  await expect(table.locator("tbody").getByRole("row")).toHaveCount(1);
  await page.goto(at(desk, "/ai/desk-assistant"));
  await page.getByRole("table", { name: "Calls" }).getByRole("row").nth(1).getByRole("link").first().click();
  await page.getByRole("link", { name: "talk-7" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Conversation");
  const turns = page.getByRole("list", { name: "Turns of the conversation" });
  await expect(turns.getByRole("heading", { level: 2 })).toHaveText(["Turn 1", "Turn 2", "Turn 3"]);
});

test("a list is exported as CSV, JSON and as a command", async ({ page, shop }) => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: shop.url });
  await page.goto(at(shop, "/endpoints"));
  const choose = async (name: string) => {
    await page.getByRole("button", { name: "Export the list" }).click();
    await page.getByRole("menuitem", { name }).click();
  };
  const saved = async (name: string) => {
    const download = page.waitForEvent("download");
    await choose(name);
    return readFileSync(await (await download).path(), "utf8");
  };
  const [head, ...lines] = (await saved("Download CSV")).trimEnd().split("\r\n");
  expect(head).toContain("endpoint,");
  expect(lines).toHaveLength(4);
  expect(lines.some((line) => line.includes("POST /checkout"))).toBe(true);
  expect(JSON.parse(await saved("Download JSON"))).toHaveLength(4);
  await choose("Copy as curl");
  await expect(page.getByText("It needs a personal token")).toBeVisible();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  expect(command).toContain(`curl '${shop.url}/api/endpoints/grouped?projectId=${shop.project}'`);
});

test("the palette finds a task, a service and a metric, and acts", async ({ page, shop }) => {
  await page.goto(at(shop));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Overview");
  const look = async (text: string) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: /Jump to/ }).fill(text);
  };
  for (const [text, kind, heading] of [
    ["order.placed", "Task", "order.placed process"],
    ["fraud", "AI trace", "fraud-check"],
    ["queue.l", "Metric", "Metrics"],
  ]) {
    await look(text);
    await page
      .getByRole("option", { name: new RegExp(`${kind}$`) })
      .first()
      .click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(heading);
  }
  await look("dark theme");
  await page.keyboard.press("Enter");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
});
