// Alerts: rules with their preview, the history, the bell, and "Alert on this". Item "Rules" of the alerts issue.
import { serious } from "./support/axe.ts";
import { call } from "./support/call.ts";
import { at, expect, type Shop, test } from "./support/fixtures.ts";
import { fits } from "./support/layout.ts";

async function channel(shop: Shop): Promise<number> {
  const body = { name: "Operators", channelType: "webhook", config: { url: "https://example.com/hook" } };
  return (await call<{ id: number }>(shop, "POST", `/api/notification-channels?projectId=${shop.project}`, body)).id;
}

test.afterEach(async ({ shop }) => {
  const of = (path: string) => `${path}?projectId=${shop.project}`;
  const { channels } = await call<{ channels: { id: number }[] }>(shop, "GET", of("/api/notification-channels"));
  // Rules are deleted with their channel.
  for (const { id } of channels) await call(shop, "DELETE", of(`/api/notification-channels/${id}`));
});

test("a rule is drawn before it is saved, snoozed, turned off and deleted", async ({ page, shop }) => {
  await channel(shop);
  await page.goto(at(shop, "/alerts"));
  await expect(page).toHaveURL(/\/alerts\/rules/);
  await expect(page.getByText("No rules")).toBeVisible();
  await page.getByRole("button", { name: "New rule" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New rule" });
  await dialog.getByLabel("Type").selectOption({ label: "Endpoints: Error rate of an endpoint" });
  await dialog.getByLabel("Threshold, %").fill("0.1");
  await dialog.getByLabel("Requests at least").fill("1");
  await expect(dialog.getByText(/It would (not )?have fired/).first()).toBeVisible();
  expect(await serious(page)).toEqual([]);
  await dialog.getByLabel("Name").fill("Checkout fails");
  await dialog.getByLabel("Name").press("Enter");
  await expect(dialog).toHaveCount(0);
  const row = page.getByRole("row", { name: /Checkout fails/ });
  await expect(row).toContainText("Error rate of an endpoint");
  await row.getByRole("button", { name: "Snooze Checkout fails for an hour" }).click();
  await expect(row).toContainText("snoozed");
  await row.getByRole("button", { name: "End the snooze of Checkout fails" }).click();
  await row.getByRole("button", { name: "Turn off Checkout fails" }).click();
  await expect(row.getByText("off", { exact: true })).toBeVisible();
  await row.getByRole("button", { name: "Change Checkout fails" }).click();
  const changed = page.getByRole("dialog", { name: "Change Checkout fails" });
  await expect(changed.getByLabel("Threshold, %")).toHaveValue("0.1");
  await changed.getByRole("button", { name: "Cancel" }).click();
  await row.getByRole("button", { name: "Delete Checkout fails" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete rule" }).click();
  await expect(page.getByText("No rules")).toBeVisible();
});

test("a page about a subject opens the form about it", async ({ page, shop }) => {
  await channel(shop);
  await page.goto(at(shop, "/issues?from=now-7d"));
  await page.locator("[data-row-link]").first().click();
  await page.getByRole("link", { name: "Alert on this" }).click();
  const dialog = page.getByRole("dialog", { name: "New rule" });
  await expect(dialog.getByLabel("Issue", { exact: true })).toHaveValue(/^[0-9a-f]{16}$/);
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await expect(page).not.toHaveURL(/new=/);
});

test("the bell and the history are reachable by keyboard, and fit a phone", async ({ page, shop }) => {
  await page.goto(at(shop, "/alerts/history"));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Alerts");
  await page.getByRole("button", { name: /^Alerts/ }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByText("What fired lately")).toBeVisible();
  await page.keyboard.press("Escape");
  await page.setViewportSize({ width: 390, height: 800 });
  for (const path of ["/alerts/history", "/alerts/rules"]) {
    await page.goto(at(shop, path));
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Alerts");
    await fits(page, path);
    expect(await serious(page)).toEqual([]);
  }
});
