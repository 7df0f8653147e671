// The query language: completion, chips, errors, facets; by mouse and by keyboard.
import { serious } from "./support/axe.ts";
import { at, expect, test } from "./support/fixtures.ts";

test("logs: fields and values are completed by keyboard, terms are chips, the URL holds the query", async ({
  page,
  desk,
}) => {
  await page.goto(at(desk, "/logs"));
  const logs = page.getByRole("table", { name: "Logs" });
  await expect(logs.getByRole("row")).toHaveCount(2);
  const bar = page.getByRole("combobox", { name: "Search logs" });
  const option = (name: RegExp) => page.getByRole("listbox", { name: "Completions" }).getByRole("option", { name });
  await bar.press("h");
  await expect(bar).toHaveValue("h");
  await expect(option(/^host\.name/)).toBeVisible();
  await bar.press("o");
  await bar.press("s");
  await bar.press("t");
  await bar.press(".");
  await expect(option(/./)).toHaveCount(1);
  expect.soft(await serious(page), "open completions").toEqual([]);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(bar).toHaveValue("host.name:");
  await expect(option(/^stock-/)).toHaveCount(2);
  await bar.press("2");
  await expect(option(/./)).toHaveText(/^stock-2/);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(logs.getByRole("row")).toHaveCount(1);
  await expect(logs).toContainText("counted again");
  await expect(page).toHaveURL(/q=host.name:stock-2/);
  await page.reload();
  await expect(logs.getByRole("row")).toHaveCount(1);
  await expect(bar).toHaveValue("host.name:stock-2");
  await page.getByRole("button", { name: "Remove the condition host.name:stock-2" }).click();
  await expect(logs.getByRole("row")).toHaveCount(2);
  await expect(bar).toHaveValue("");
  // The query is kept for the next time.
  await bar.click();
  await bar.press("ArrowDown");
  await expect(option(/host.name:stock-2.*earlier/)).toBeVisible();
});

test("logs: a wrong query shows the fault and its place", async ({ page, desk, problems }) => {
  await page.goto(at(desk, "/logs"));
  const bar = page.getByRole("combobox", { name: "Search logs" });
  await bar.fill("größe level:nonsense");
  await bar.press("Enter");
  const fault = page.locator("p[role=alert]", { hasText: "takes trace, debug" });
  await expect(fault.locator("mark")).toHaveText("nonsense");
  await expect(bar).toHaveAttribute("aria-invalid", "true");
  expect.soft(await serious(page)).toEqual([]);
  await page.getByRole("button", { name: "Clear the query" }).click();
  await expect(fault).toHaveCount(0);
  await expect(page.getByRole("table", { name: "Logs" }).getByRole("row")).toHaveCount(2);
  // The browser logs the refused requests.
  problems.length = 0;
});

test("logs: facets select and exclude values", async ({ page, desk }) => {
  await page.goto(at(desk, "/logs"));
  const logs = page.getByRole("table", { name: "Logs" });
  await expect(logs.getByRole("row")).toHaveCount(2);
  const values = page.getByRole("complementary", { name: "Values" });
  await values
    .getByRole("button", { name: /^host\.name stock-2/ })
    .or(values.getByRole("button", { name: /^host stock-2/ }))
    .first()
    .click();
  await expect(logs.getByRole("row")).toHaveCount(1);
  await values
    .getByRole("button", { name: /^Exclude host(\.name)? stock-2/ })
    .first()
    .click();
  await expect(logs).not.toContainText("counted again");
  await expect(page).toHaveURL(/q=-host/);
  await page.goBack();
  await expect(logs).toContainText("counted again");
});
