// On-call from a team to a page that is resolved, by mouse and by keyboard. Issue 22, item 6.
import { serious } from "./support/axe.ts";
import { call } from "./support/call.ts";
import { ACCOUNT, at, expect, test } from "./support/fixtures.ts";
import { fits } from "./support/layout.ts";

test("a team, a schedule by keyboard, a policy, a page that is acknowledged and resolved", async ({
  page,
  shop,
  problems,
}) => {
  const channels = `/api/notification-channels?projectId=${shop.project}`;
  const chat = { name: "Operators", channelType: "webhook", config: { url: "https://example.com/hook" } };
  const { id: chatId } = await call<{ id: number }>(shop, "POST", channels, chat);
  await page.goto(at(shop, "/on-call"));
  await expect(page.getByText("Nobody is on call yet")).toBeVisible();
  expect(await serious(page)).toEqual([]);

  await page.getByRole("link", { name: "Teams", exact: true }).click();
  await page.getByRole("button", { name: "New team" }).click();
  const team = page.getByRole("dialog", { name: "New team" });
  await team.getByLabel("Name").fill("Shop");
  await team.getByLabel(ACCOUNT.name).check();
  await team.getByLabel(ACCOUNT.projectName, { exact: true }).check();
  await team.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("table", { name: "Teams" })).toContainText(ACCOUNT.name);

  // The editor works without a mouse; its preview follows.
  await page.getByRole("link", { name: "Schedules", exact: true }).click();
  await page.getByRole("button", { name: "New schedule" }).focus();
  await page.keyboard.press("Enter");
  const schedule = page.getByRole("dialog", { name: "New schedule" });
  await expect(schedule.getByLabel("Name", { exact: true })).toBeFocused();
  await page.keyboard.type("Primary");
  await schedule.getByLabel("Time zone").selectOption("Europe/Berlin");
  await schedule.getByLabel("First turn").fill("2026-01-01");
  const people = schedule.getByLabel("Who takes turns in layer 1");
  await people.focus();
  await page.keyboard.press("ArrowDown");
  await expect(schedule.getByRole("list", { name: "People of layer 1" })).toContainText(ACCOUNT.name);
  const preview = schedule.getByRole("region", { name: "Preview of the next two weeks" });
  await preview.getByText("Shifts as a list").click();
  await expect(preview.getByRole("list", { name: "Shifts" })).toContainText(ACCOUNT.name);
  await schedule.getByRole("button", { name: "Limit to hours" }).click();
  await expect(preview.getByRole("listitem")).not.toHaveCount(1);
  await schedule.getByRole("button", { name: "Remove hours 1" }).click();
  expect(await serious(page)).toEqual([]);
  await schedule.getByRole("button", { name: "Save" }).focus();
  await page.keyboard.press("Enter");
  await expect(schedule).toHaveCount(0);

  // An override of the schedule.
  await page.getByRole("link", { name: "Primary" }).click();
  await page.getByLabel("Who covers").selectOption({ label: ACCOUNT.name });
  await page.getByRole("button", { name: "Add override" }).click();
  await expect(page.getByRole("button", { name: `Remove the override of ${ACCOUNT.name}` })).toBeVisible();
  await page.getByRole("button", { name: `Remove the override of ${ACCOUNT.name}` }).click();
  await expect(page.getByText("None. An override replaces")).toBeVisible();

  await page.getByRole("link", { name: "Policies", exact: true }).click();
  await page.getByRole("button", { name: "New policy" }).click();
  const policy = page.getByRole("dialog", { name: "New policy" });
  await policy.getByLabel("Name").fill("Wake us");
  await policy.getByLabel("Who is reached in step 1").selectOption({ label: "Schedule Primary" });
  await policy.getByRole("button", { name: "Add a step" }).click();
  await policy.getByLabel("Who is reached in step 2").selectOption({ label: "Everybody in Shop" });
  await policy.getByLabel("Who is reached in step 2").selectOption({ label: "Channel Operators" });
  await policy.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("region", { name: "Wake us" })).toContainText("Everybody in Shop, Channel Operators");
  // What a policy reaches cannot be deleted.
  await page.goto(at(shop, "/alerts/channels"));
  await page.getByRole("button", { name: "Delete Operators" }).click();
  const removal = page.getByRole("dialog");
  await removal.getByRole("button", { name: "Delete the channel" }).click();
  await expect(removal.getByRole("alert")).toContainText("An escalation policy reaches this channel");
  problems.length = 0;
  await removal.getByRole("button", { name: "Cancel" }).click();
  await page.goto(at(shop, "/on-call?tab=policies"));
  await page.getByRole("button", { name: "Edit the policy Wake us" }).click();
  const edited = page.getByRole("dialog", { name: "Edit Wake us" });
  await edited.getByRole("button", { name: "Remove Channel Operators from step 2" }).click();
  await edited.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("region", { name: "Wake us" })).not.toContainText("Operators");
  await call(shop, "DELETE", `/api/notification-channels/${chatId}?projectId=${shop.project}`);
  expect(await serious(page)).toEqual([]);

  await page.getByRole("link", { name: "Overview", exact: true }).last().click();
  await expect(page.getByRole("region", { name: "Team Shop" })).toContainText(ACCOUNT.name);

  await page.getByRole("link", { name: "Pages", exact: true }).click();
  await page.getByRole("button", { name: "Page somebody" }).click();
  const alert = page.getByRole("dialog", { name: "Page somebody" });
  await alert.getByLabel("What is wrong").fill("Checkout fails");
  await alert.getByRole("button", { name: "Page now" }).click();
  const detail = page.getByRole("dialog", { name: "Checkout fails" });
  await expect(detail).toContainText("Schedule Primary");
  await expect(page).toHaveURL(/page=\d+/);
  expect(await serious(page)).toEqual([]);
  await detail.getByRole("button", { name: "Acknowledge" }).click();
  await expect(detail).toContainText(`Acknowledged by ${ACCOUNT.name}`);
  await page.keyboard.press("Escape");
  await page.getByRole("checkbox", { name: "Select Checkout fails" }).check();
  await page.getByRole("button", { name: "Resolve", exact: true }).click();
  await expect(page.getByText("No pages", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Resolved", exact: true }).click();
  await expect(page.getByRole("link", { name: "Checkout fails" })).toBeVisible();

  // Nothing is wider than a phone.
  await page.setViewportSize({ width: 390, height: 800 });
  for (const tab of ["", "?tab=pages", "?tab=schedules", "?tab=policies", "?tab=teams"]) {
    await page.goto(at(shop, `/on-call${tab}`));
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("On-call");
    await fits(page, tab);
  }
});

test("contact methods, chains and the calendar of the account", async ({ page, shop }) => {
  await page.goto(`${shop.url}/account?tab=contact`);
  await expect(page.getByText("None yet: pages are sent to")).toBeVisible();
  await page.getByLabel("Type").selectOption("telegram");
  await page.getByLabel("Bot token").fill("1:secret");
  await page.getByLabel("Chat id").fill("424242");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await expect(page.getByText("not verified")).toBeVisible();
  await expect(page.getByText("1:secret")).toHaveCount(0);
  expect(await serious(page)).toEqual([]);
  await page.getByLabel("Add a step for high urgency").selectOption({ index: 1 });
  await page.getByLabel(/^Minutes until .*, high urgency$/).fill("3");
  await page.getByRole("button", { name: "Save the chains" }).click();
  await expect(page.getByText("Saved", { exact: true })).toBeVisible();
  const rules = await call<{ high: unknown[] }>(shop, "GET", "/api/user-notification-rules");
  expect(rules.high).toHaveLength(1);
  await page.getByRole("button", { name: "Delete Telegram, chat …242" }).click();
  await page.getByRole("button", { name: "Delete the contact method" }).click();
  await expect(page.getByText("None yet: pages are sent to")).toBeVisible();
  await page.getByRole("button", { name: "Make an address" }).click();
  const url = await page.locator("[data-secret]").textContent();
  expect(url).toContain("/api/on-call/calendar/twc_");
  const feed = await page.request.get(url ?? "");
  expect(await feed.text()).toContain("BEGIN:VCALENDAR");
  await page.getByRole("button", { name: "End the address" }).click();
  await expect(page.getByRole("button", { name: "Make an address" })).toBeVisible();
  expect((await page.request.get(url ?? "")).status()).toBe(404);
});
