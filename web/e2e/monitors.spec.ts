// Monitors: created, checked, failing, paused, edited and deleted; a heartbeat with its address; readers change nothing.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "@playwright/test";
import { serious } from "./support/axe.ts";
import { call } from "./support/call.ts";
import { at, expect, type Shop, test } from "./support/fixtures.ts";
import { fits } from "./support/layout.ts";

interface Target {
  url: string;
  status: number;
  server: Server;
}

async function openTarget(): Promise<Target> {
  const target = { url: "", status: 200 } as Target;
  target.server = createServer((_, response) => {
    response.statusCode = target.status;
    response.end("all healthy");
  });
  await new Promise<void>((ready) => target.server.listen(0, "127.0.0.1", ready));
  target.url = `http://127.0.0.1:${(target.server.address() as AddressInfo).port}/health`;
  return target;
}

let target: Target;
test.beforeEach(async () => {
  target = await openTarget();
});
test.afterEach(async ({ shop }) => {
  target.server.close();
  const query = `?projectId=${shop.project}`;
  const { checks } = await call<{ checks: { id: number }[] }>(shop, "GET", `/api/synthetics/checks${query}`);
  for (const { id } of checks) await call(shop, "DELETE", `/api/synthetics/checks/${id}${query}`);
});

async function create(shop: Shop, body: object): Promise<{ id: number; token?: string }> {
  return call(shop, "POST", `/api/synthetics/checks?projectId=${shop.project}`, body);
}

const http = (name: string) => ({
  name,
  checkType: "http",
  intervalSeconds: 86_400,
  failureThreshold: 1,
  config: { url: target.url },
});

async function fitsPhone(page: Page): Promise<void> {
  await page.setViewportSize({ width: 390, height: 844 });
  await fits(page);
}

test("a monitor is created, checked at once, and shows why it is down", async ({ page, shop, problems }) => {
  await page.goto(at(shop, "/"));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Overview");
  await page.keyboard.press("g");
  await page.keyboard.press("h");
  await expect(page.getByRole("heading", { name: "No monitors yet" })).toBeVisible();
  await page.getByRole("button", { name: "New monitor" }).first().click();
  const form = page.getByRole("dialog", { name: "New monitor" });
  await expect(form.getByLabel("Name", { exact: true })).toBeFocused();
  await page.keyboard.type("Checkout page");
  await form.getByLabel("URL").fill("ftp://example.com");
  await form.getByLabel("Down after failures").fill("1");
  // The schedule adds no second result during the test.
  await form.getByLabel("Check every").selectOption("86400");
  expect.soft(await serious(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await expect(form.getByRole("alert")).toContainText("begins with http");
  // The browser logs the refusal.
  expect(problems.splice(0)).toHaveLength(1);
  await form.getByLabel("URL").fill(target.url);
  await form.getByLabel("A body that contains").fill("healthy");
  await form.getByRole("button", { name: "Create monitor" }).click();

  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Checkout page");
  const results = page.getByRole("table", { name: "Results" });
  await expect(results.getByText("status 200")).toBeVisible();
  await expect(page.getByText("up", { exact: true }).first()).toBeVisible();
  target.status = 503;
  await page.getByRole("button", { name: "Run now" }).click();
  await expect(results.getByRole("cell", { name: "status 503" })).toBeVisible();
  await expect(results.getByRole("link", { name: /^Trace of the check/ })).toHaveCount(2);
  await expect(page.getByRole("list", { name: "Changes" }).getByRole("listitem").first()).toContainText("down");
  await expect(page.getByRole("figure", { name: "Duration" })).toBeVisible();
  await expect(page.getByRole("img", { name: /^Last 90 days: 50.00 % good, failures on 1 day/ })).toBeVisible();
  expect.soft(await serious(page)).toEqual([]);
  await page.getByRole("button", { name: "Failed", exact: true }).click();
  await expect(page).toHaveURL(/failed=true|failed=1/);
  await expect(results.getByRole("row")).toHaveCount(2);
  await fitsPhone(page);

  await page.goto(at(shop, "/monitors"));
  const row = page.getByRole("table", { name: "Monitors" }).getByRole("row").nth(1);
  await expect(row).toContainText("down");
  await expect(row).toContainText("status 503");
  await expect(row.getByRole("cell", { name: "50.00 %" }).last()).toBeVisible();
  expect.soft(await serious(page)).toEqual([]);
  await fitsPhone(page);
});

test("a monitor is edited, paused and deleted", async ({ page, shop }) => {
  const { id } = await create(shop, {
    ...http("Shop"),
    config: { url: target.url, auth: { type: "bearer", token: "s3cret-token" } },
  });
  await page.goto(at(shop, `/monitors/${id}`));
  await page.getByRole("button", { name: "Edit" }).click();
  const form = page.getByRole("dialog", { name: "Edit Shop" });
  await form.getByText("Request: authentication").click();
  await expect(form.getByLabel("Token", { exact: true })).toHaveValue("********");
  await form.getByLabel("Name", { exact: true }).fill("Web shop");
  await form.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Web shop");
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(page.getByRole("button", { name: "Resume" })).toBeVisible();
  await expect(page.getByText("paused", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Delete…" }).click();
  const confirm = page.getByRole("dialog", { name: "Delete Web shop?" });
  await expect(confirm.getByRole("button", { name: "Cancel" })).toBeFocused();
  await confirm.getByRole("button", { name: "Delete monitor" }).click();
  await expect(page.getByRole("heading", { name: "No monitors yet" })).toBeVisible();
});

test("a heartbeat shows its address once, and the job's reports", async ({ page, shop }) => {
  await page.goto(at(shop, "/monitors"));
  await page.getByRole("button", { name: "New monitor" }).first().click();
  const form = page.getByRole("dialog", { name: "New monitor" });
  await form.getByLabel("Name", { exact: true }).fill("Backup");
  await form.getByLabel("Type", { exact: true }).selectOption("heartbeat");
  await form.getByRole("button", { name: "Create monitor" }).click();
  const dialog = page.getByRole("dialog", { name: "Address of Backup" });
  const address = (await dialog.locator("[data-secret]").textContent()) ?? "";
  expect(address).toContain("/api/heartbeat/twh_");
  expect.soft(await serious(page)).toEqual([]);
  await dialog.getByRole("button", { name: "I have it" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Backup");
  await expect(page.getByText("no report yet")).toBeVisible();
  expect((await fetch(`${address}/7`, { method: "POST" })).status).toBe(200);
  const results = page.getByRole("table", { name: "Results" });
  await expect(results.getByText("the job has ended with exit code 7")).toBeVisible();
  expect((await fetch(address)).status).toBe(200);
  await expect(results.getByRole("row")).toHaveCount(3);
  await page.reload();
  expect(await page.content()).not.toContain("twh_");
});

test("states are filtered, and a search without a match says so", async ({ page, shop }) => {
  target.status = 500;
  await create(shop, http("Broken"));
  await create(shop, { ...http("Paused"), enabled: false });
  await page.goto(at(shop, "/monitors"));
  const table = page.getByRole("table", { name: "Monitors" });
  await expect(table.getByRole("row").nth(1)).toContainText("status 500");
  await page.getByRole("button", { name: "Down", exact: true }).click();
  await expect(page).toHaveURL(/state=down/);
  await expect(table.getByRole("row")).toHaveCount(2);
  await page.getByRole("searchbox", { name: "Search monitors" }).fill("no such");
  await expect(page.getByRole("heading", { name: "No monitor matches" })).toBeVisible();
});

test("a member with read access sees no button that changes", async ({ page, shop }) => {
  const { id } = await create(shop, http("Shop"));
  await page.route("**/api/me/login-bundle*", async (route) => {
    const answer = await route.fetch();
    const bundle = await answer.json();
    for (const project of bundle.projects) project.role = "readonly";
    await route.fulfill({ response: answer, json: bundle });
  });
  await page.goto(at(shop, `/monitors/${id}`));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Shop");
  await expect(page.getByRole("table", { name: "Results" })).toBeVisible();
  for (const name of ["Run now", "Pause", "Edit", "Delete…"])
    await expect(page.getByRole("button", { name })).toHaveCount(0);
  await page.goto(at(shop, "/monitors"));
  await expect(page.getByRole("table", { name: "Monitors" })).toBeVisible();
  await expect(page.getByRole("button", { name: "New monitor" })).toHaveCount(0);
});
