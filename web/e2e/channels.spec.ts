// Channels of notifications: made, tested, changed and deleted, by mouse and by keyboard; what failed is shown; members
// without Write see no buttons. Item "Channels".
import type { Page } from "@playwright/test";
import { serious } from "./support/axe.ts";
import { call } from "./support/call.ts";
import { at, expect, type Shop, test, visitor } from "./support/fixtures.ts";
import { fits } from "./support/layout.ts";
import { linkToken, mailedLink } from "./support/mail.ts";

const PATH = "/alerts/channels";

async function clear(shop: Shop): Promise<void> {
  const path = `/api/notification-channels?projectId=${shop.project}`;
  for (const { id } of (await call<{ channels: { id: number }[] }>(shop, "GET", path)).channels)
    await call(shop, "DELETE", `/api/notification-channels/${id}?projectId=${shop.project}`);
}

async function make(shop: Shop, name: string, channelType: string, config: object): Promise<void> {
  await call(shop, "POST", `/api/notification-channels?projectId=${shop.project}`, { name, channelType, config });
}

const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

test.afterEach(({ shop }) => clear(shop));

test("a channel is made, tested, renamed and deleted", async ({ page, shop, problems }) => {
  await page.goto(at(shop, PATH));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Alerts");
  await expect(page.getByRole("link", { name: "Channels" })).toHaveAttribute("aria-current", "page");
  await expect(page.getByText("No channels yet")).toBeVisible();
  await page.getByRole("button", { name: "New channel" }).click();
  await expect(page).toHaveURL(/channel=new/);
  const dialog = page.getByRole("dialog", { name: "New channel" });
  await dialog.getByLabel("Name", { exact: true }).fill("Team mail");
  await dialog.getByRole("button", { name: "Make the channel" }).click();
  await expect(dialog.getByRole("alert")).toHaveText("Recipients is missing.");
  await dialog.getByLabel("Recipients").fill("ada@example.com\nnobody");
  await dialog.getByRole("button", { name: "Make the channel" }).click();
  await expect(dialog.getByRole("alert")).toContainText("is not an email address");
  // The browser logs the expected 422 as a console error.
  problems.length = 0;
  await dialog.getByLabel("Recipients").fill("ada@example.com");
  expect(await serious(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Make the channel" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(row(page, "Team mail")).toContainText("Not used yet");

  await page.getByRole("button", { name: "Test Team mail" }).click();
  await expect(page.getByText("A test message was sent to Team mail.")).toBeVisible();
  await expect(row(page, "Team mail")).toContainText("Working");

  await page.getByRole("button", { name: "Edit Team mail" }).click();
  const edit = page.getByRole("dialog", { name: "Channel Team mail" });
  await edit.getByLabel("Name", { exact: true }).fill("Everybody");
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(row(page, "Everybody")).toContainText("Working");

  await page.getByRole("button", { name: "Delete Everybody" }).click();
  const confirm = page.getByRole("dialog", { name: "Delete Everybody?" });
  await confirm.getByRole("button", { name: "Cancel" }).click();
  await expect(row(page, "Everybody")).toBeVisible();
  await page.getByRole("button", { name: "Delete Everybody" }).click();
  await confirm.getByRole("button", { name: "Delete the channel" }).click();
  await expect(page.getByText("No channels yet")).toBeVisible();
});

test("what failed is shown, and secrets are not", async ({ page, shop, problems }) => {
  await make(shop, "Chat", "slack", { webhookUrl: "http://127.0.0.1:9/services/T0P-SECRET" });
  await page.goto(at(shop, PATH));
  await page.getByRole("button", { name: "Test Chat" }).click();
  await expect(page.getByRole("alert")).toContainText("is an address of a private network");
  problems.length = 0;
  await expect(row(page, "Chat")).toContainText("Failing");
  await expect(row(page, "Chat")).toContainText("is an address of a private network");
  await page.getByRole("button", { name: "Edit Chat" }).click();
  const edit = page.getByRole("dialog", { name: "Channel Chat" });
  await expect(edit.getByLabel("Webhook URL")).toHaveValue("********");
  expect(await page.content()).not.toContain("T0P-SECRET");
  // A stored secret stays as it is.
  await edit.getByLabel("Another channel").fill("#ops");
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(edit).toHaveCount(0);
});

test("the form follows the type, works by keyboard, and fits a phone", async ({ page, shop }) => {
  await make(shop, "a channel with quite a long name ".repeat(3), "webhook", {
    url: `https://example.com/${"x".repeat(300)}`,
  });
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(at(shop, PATH));
  await expect(page.getByRole("table", { name: "Channels" })).toBeVisible();
  await fits(page);
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    expect(await serious(page)).toEqual([]);
  }
  await page.getByRole("button", { name: "New channel" }).focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "New channel" });
  await dialog.getByLabel("Type").selectOption("pushover");
  await expect(dialog.getByLabel("Repeat every, seconds")).toHaveCount(0);
  await dialog.getByLabel("Priority").selectOption("2");
  await expect(dialog.getByLabel("Repeat every, seconds")).toBeVisible();
  await fits(page);
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await expect(page).not.toHaveURL(/channel=/);
});

test("members who may only read see no buttons", async ({ browser, page, server, shop }) => {
  await make(shop, "Hook", "webhook", { url: "https://example.com/hook" });
  await page.goto(at(shop, PATH));
  await expect(page.getByRole("button", { name: "Test Hook" })).toBeVisible();
  const email = "channel-reader@example.com";
  const { organizations } = await call<{ organizations: { id: number }[] }>(shop, "GET", "/api/me/login-bundle");
  await call(shop, "POST", `/api/organizations/${organizations[0].id}/invitations`, { email, role: "readonly" });
  const token = linkToken(await mailedLink(server.mails, email, "accept-invitation"));
  await call(shop, "POST", `/api/invitations/${token}/accept`, { name: "Reader", password: "a long password" });
  const reader = await visitor(browser);
  await reader.goto(`${shop.url}/login`);
  await reader.getByLabel("E-mail").fill(email);
  await reader.getByLabel("Password").fill("a long password");
  await reader.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(reader.getByRole("heading", { level: 1 })).toHaveText("Overview");
  await reader.goto(at(shop, `${PATH}?channel=new`));
  await expect(row(reader, "Hook")).toBeVisible();
  await expect(reader.getByRole("button", { name: /^(New channel|Test|Edit|Delete)/ })).toHaveCount(0);
  await expect(reader.getByRole("dialog")).toHaveCount(0);
});
