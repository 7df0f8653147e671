// Deploys: marks on charts by mouse and keyboard, and their list.
import type { Page } from "@playwright/test";
import { serious } from "./support/axe.ts";
import { at, expect, test } from "./support/fixtures.ts";

const deploy = (version: string, previous: string | null, minutes: number) => ({
  service: "checkout",
  environment: "production",
  version,
  time: new Date(Date.now() - minutes * 60_000).toISOString(),
  firstSeen: null,
  reported: false,
  previous,
  commit: "",
  author: "",
  url: "",
});

async function answer(page: Page, data: unknown[]) {
  await page.route("**/api/deploys/list?*", (route) => route.fulfill({ json: { data, truncated: false } }));
}

test("a deploy is a line and a named link on every chart of a page", async ({ page, desk }) => {
  await answer(page, [
    deploy("1.42.0", "1.41.0", 30),
    deploy("2.0.0-<b>long</b>-ünï", "1.9", 29),
    deploy("1.41.0", null, 50),
  ]);
  await page.goto(at(desk, "/endpoints/POST%20%2Fpay?from=now-1h"));
  const name = /^2 deploys: checkout 1\.42\.0 in production at \d\d:\d\d, before 1\.41\.0; checkout 2\.0\.0-<b>long/;
  for (const title of ["Duration", "Calls"]) {
    const chart = page.getByRole("figure", { name: title });
    await expect(chart.getByRole("list", { name: "Deploys" }).getByRole("link")).toHaveCount(1);
    await expect(chart.getByRole("link", { name })).toBeVisible();
  }
  expect.soft(await serious(page)).toEqual([]);
  const mark = page.getByRole("figure", { name: "Calls" }).getByRole("link", { name });
  await mark.focus();
  await expect(page.getByText("checkout 1.42.0 in production at", { exact: false }).last()).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Deploys", level: 1 })).toBeVisible();
  await expect(page).toHaveURL(/deploys\?.*service=checkout/);
  await expect(page.getByRole("table", { name: "Deploys" }).getByRole("row")).toHaveCount(4);
  expect.soft(await serious(page)).toEqual([]);
});

test("without deploys: no marks, and the list says where they come from", async ({ page, desk }) => {
  await answer(page, []);
  await page.goto(at(desk, "/endpoints/POST%20%2Fpay?from=now-1h"));
  await expect(page.getByRole("figure", { name: "Calls" }).locator("[data-plot] svg")).toBeVisible();
  await expect(page.getByRole("list", { name: "Deploys" })).toHaveCount(0);
  await page.keyboard.press("g");
  await page.keyboard.press("d");
  await expect(page.getByRole("heading", { name: "Deploys", level: 1 })).toBeVisible();
  await expect(page.getByText("service.version")).toBeVisible();
});
