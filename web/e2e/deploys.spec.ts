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

test("a version: what it changed, and the way to the comparison with the time before", async ({ page, desk }) => {
  const version = deploy("1.42.0", "1.41.0", 30);
  const kind = "endpoint";
  const worse = {
    kind,
    name: "POST /pay",
    metric: "p50",
    before: 1.5e8,
    after: 1.05e9,
    beforeCount: 90,
    afterCount: 40,
  };
  await answer(page, [version]);
  await page.route("**/api/deploys/version?*", (route) =>
    route.fulfill({
      json: {
        deploy: version,
        from: new Date(Date.now() - 7 * 3_600_000).toISOString(),
        to: new Date().toISOString(),
        calls: 40,
        otherCalls: 90,
        worse: [worse],
        better: [],
        new: [],
        fixed: [{ name: "OldFault", exceptionHash: "00000000000000aa", count: 31 }],
      },
    }),
  );
  await page.goto(at(desk, "/deploys"));
  await page.getByRole("link", { name: "1.42.0" }).click();
  await expect(page.getByRole("heading", { name: "checkout 1.42.0", level: 1 })).toBeVisible();
  await expect(page.getByRole("list", { name: "What got worse" })).toContainText("p50 ×7");
  await expect(page.getByRole("list", { name: "What got worse" })).toContainText("40 calls, 90 of other versions");
  await expect(page.getByRole("list", { name: "What is fixed" })).toContainText("OldFault");
  expect.soft(await serious(page)).toEqual([]);
  await page.getByRole("link", { name: "Compare endpoints with before" }).click();
  await expect(page).toHaveURL(/cmp=previous/);
  await expect(page.getByRole("combobox", { name: "Compare with" })).toHaveValue(version.time);
});
