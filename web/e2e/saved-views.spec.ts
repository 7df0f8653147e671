// Saved views: private and shared, starred, renamed, updated, deleted; in the menu of the page, the list of pages and
// the palette. Item "Saved views (private, shared, starred)"; UX.md: saved views are named query strings.
import type { Browser, Page } from "@playwright/test";
import { serious } from "./support/axe.ts";
import { call } from "./support/call.ts";
import { at, expect, freshSession, type Shop, test, visitor } from "./support/fixtures.ts";
import { fits } from "./support/layout.ts";
import { linkToken, mailedLink } from "./support/mail.ts";

/** The browser of a second member, signed in. */
async function secondMember(browser: Browser, shop: Shop, mails: string, name: string, role: string): Promise<Page> {
  const email = `${name}@example.com`;
  const { organizations } = await call<{ organizations: { id: number }[] }>(shop, "GET", "/api/me/login-bundle");
  const session = await freshSession(shop);
  await call(shop, "POST", `/api/organizations/${organizations[0].id}/invitations`, { email, role }, session);
  const token = linkToken(await mailedLink(mails, email, "accept-invitation"));
  await call(shop, "POST", `/api/invitations/${token}/accept`, { name, password: "a long password" });
  const page = await visitor(browser);
  await page.goto(`${shop.url}/login`);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill("a long password");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Overview");
  return page;
}

const menu = (page: Page) => page.getByRole("button", { name: /^Views/ });

async function save(page: Page, name: string, shared: boolean): Promise<void> {
  await menu(page).click();
  await page.getByRole("button", { name: "Save view…" }).click();
  const dialog = page.getByRole("dialog", { name: "Save view" });
  await expect(dialog.getByLabel("Name")).toBeFocused();
  await dialog.getByLabel("Name").fill(name);
  if (shared) await dialog.getByRole("switch", { name: "Shared" }).click();
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await expect(dialog).toHaveCount(0);
  await expect(menu(page)).toHaveAccessibleName(`Views: ${name}`);
}

async function clear(shop: Shop): Promise<void> {
  const path = `/api/saved-views?projectId=${shop.project}`;
  for (const { id } of (await call<{ data: { id: number }[] }>(shop, "GET", path)).data)
    await call(shop, "DELETE", `/api/saved-views/${id}?projectId=${shop.project}`);
}

test.afterEach(({ shop }) => clear(shop));

test("a view restores the search, filters and relative time range of its page", async ({ page, shop }) => {
  await page.goto(at(shop, "/logs?q=level:error&from=now-1h&cols=service"));
  await save(page, "Errors of the hour", false);
  await page.goto(at(shop, "/logs?from=now-7d"));
  await expect(menu(page)).toHaveAccessibleName("Views");
  await menu(page).click();
  await page.getByRole("link", { name: "Errors of the hour" }).click();
  await expect(page).toHaveURL(/\/logs\?(?=.*q=level:error)(?=.*from=now-1h)(?=.*cols=service)/);
  await expect(page.getByRole("combobox", { name: "Search logs" })).toHaveValue("level:error");

  // A change is marked; an update takes it over.
  await page.getByRole("combobox", { name: "Search logs" }).fill("level:warn");
  await page.keyboard.press("Enter");
  await expect(menu(page)).toHaveAccessibleName("Views: Errors of the hour changed");
  await menu(page).click();
  expect(await serious(page)).toEqual([]);
  await page.getByRole("button", { name: "Update" }).click();
  await expect(menu(page)).toHaveAccessibleName("Views: Errors of the hour");
  await page.reload();
  await expect(menu(page)).toHaveAccessibleName("Views: Errors of the hour");
});

test("every list page has views of its own", async ({ page, shop }) => {
  for (const path of [
    "",
    "/endpoints",
    "/tasks",
    "/ai",
    "/issues",
    "/sessions",
    "/traces",
    "/logs",
    "/metrics",
    "/profiles",
  ]) {
    await page.goto(at(shop, path || "/"));
    await expect(menu(page)).toBeVisible();
  }
  await page.goto(at(shop, "/settings"));
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(menu(page)).toHaveCount(0);
});

test("private views are the owner's, shared ones everybody's", async ({ page, shop, server, browser }) => {
  await page.goto(at(shop, "/endpoints?q=duration%3E200ms"));
  await save(page, "Slow ones", false);
  await page.goto(at(shop, "/endpoints?q=status%3E%3D500"));
  await save(page, "Failing ones", true);

  const reader = await secondMember(browser, shop, server.mails, "viewer", "readonly");
  await reader.goto(at(shop, "/endpoints"));
  await menu(reader).click();
  const list = reader.getByRole("list", { name: "Saved views" });
  await expect(list.getByRole("link")).toHaveText(["Failing ones"]);
  await expect(list.getByRole("button", { name: "Change Failing ones" })).toHaveCount(0);
  await list.getByRole("link", { name: "Failing ones" }).click();
  await expect(reader).toHaveURL(/q=status/);
  await menu(reader).click();
  await reader.getByRole("button", { name: "Save view…" }).click();
  await expect(reader.getByRole("switch", { name: "Shared" })).toBeDisabled();
  await reader.context().close();
});

test("starred views are in the list of pages and in the palette", async ({ page, shop }) => {
  await page.goto(at(shop, "/traces?service=shop&from=now-6h"));
  await save(page, "Traces of the shop", true);
  await menu(page).click();
  await page.getByRole("button", { name: "Star Traces of the shop" }).click();
  await expect(page.getByRole("button", { name: "Star Traces of the shop" })).toHaveAttribute("aria-pressed", "true");
  await page.keyboard.press("Escape");
  await page.goto(at(shop, "/metrics?from=now-1h"));
  await page.getByRole("list", { name: "Starred views" }).getByRole("link", { name: "Traces of the shop" }).click();
  await expect(page).toHaveURL(/\/traces\?(?=.*service=shop)(?=.*from=now-6h)/);
  await expect(menu(page)).toHaveAccessibleName("Views: Traces of the shop");
  await page.goto(at(shop, "/logs"));
  await expect(page.getByRole("heading", { name: "Logs", level: 1 })).toBeVisible();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /^Jump to/ }).fill("traces of");
  await page.getByRole("option", { name: /Traces of the shop/ }).click();
  await expect(page).toHaveURL(/\/traces\?(?=.*service=shop)(?=.*from=now-6h)/);
});

test("views are renamed, shared and deleted; a deletion is undone", async ({ page, shop }) => {
  await page.goto(at(shop, "/issues?state=all"));
  await save(page, "All", false);
  await menu(page).click();
  await page.getByRole("button", { name: "Change All" }).click();
  const dialog = page.getByRole("dialog", { name: "Change view" });
  await dialog.getByLabel("Name").fill("Every issue");
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await expect(menu(page)).toHaveAccessibleName("Views: Every issue");
  await menu(page).click();
  await page.getByRole("button", { name: "Change Every issue" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(menu(page)).toHaveAccessibleName("Views");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(menu(page)).toHaveAccessibleName("Views: Every issue");
  await menu(page).click();
  await page.getByRole("button", { name: "Change Every issue" }).click();
  await dialog.getByRole("switch", { name: "Shared" }).click();
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await expect(dialog).toHaveCount(0);
  await menu(page).click();
  await expect(page.getByRole("list", { name: "Saved views" })).toContainText("shared");
  await page.getByRole("button", { name: "Change Every issue" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  // A shared view asks first.
  await page.getByRole("dialog", { name: "Delete the view" }).getByRole("button", { name: "Delete the view" }).click();
  await expect(menu(page)).toHaveAccessibleName("Views");
});

test("a view with unknown parameters opens its page alone", async ({ page, shop }) => {
  await call(shop, "POST", `/api/saved-views?projectId=${shop.project}`, {
    name: "Odd",
    page: "tasks",
    search: "sort=nothing&next=javascript:alert(1)&to=https://example.com",
  });
  await page.goto(at(shop, "/tasks"));
  await menu(page).click();
  await page.getByRole("link", { name: "Odd" }).click();
  await expect(page).toHaveURL((url) => url.origin === shop.url && url.pathname.endsWith("/tasks"));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Tasks");
});

test("views on a phone", async ({ page, shop }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(at(shop, "/logs?q=level:error"));
  await save(page, "A rather long name of a view that a phone has to shorten somewhere", false);
  await menu(page).click();
  await page.getByRole("button", { name: /^Star A rather long/ }).click();
  // The menu covers parts of controls behind it.
  expect(await serious(page, { within: "[role=dialog]" })).toEqual([]);
  await fits(page);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Open the page list" }).click();
  await expect(page.getByRole("list", { name: "Starred views" }).getByRole("link")).toBeVisible();
});
