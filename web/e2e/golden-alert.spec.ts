// The golden journey of alerting: a release of the demo's shop is slow and fails; rules fire, become one incident and
// page who is on call; the link of the mail acknowledges; healthy traffic ends rules, page and incident. Issue 22.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Page } from "@playwright/test";
import { serious } from "./support/axe.ts";
import { expect, test } from "./support/base.ts";
import { call } from "./support/call.ts";
import { ACCOUNT, at, enter, register, type Shop } from "./support/fixtures.ts";
import { mailedLink } from "./support/mail.ts";
import { startServer } from "./support/server.ts";

/** Rules, pages and messages are looked for as often as the settings permit. */
const QUICK = {
  NOTIFICATION_POLL_SECONDS: "5",
  ONCALL_POLL_SECONDS: "5",
  OUTBOX_POLL_SECONDS: "1",
  INCIDENT_GRACE_SECONDS: "20",
};
/** Time within which the server evaluates, and a page is loaded. */
const SOON = { timeout: 90_000 };
const QUIET_MINUTES = 30;
const ORDERS = "POST /orders";

/** Traffic of the demo's shop. */
function traffic(shop: Shop, ...options: string[]): ChildProcess {
  return spawn(
    process.env.TIDEWATCH_BIN ?? "tidewatch",
    ["demo", "--url", shop.url, "--token", shop.token, ...options],
    {
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
}

async function history(shop: Shop, ...options: string[]): Promise<void> {
  const [code] = (await once(traffic(shop, "--incident", "none", "--once", ...options), "exit")) as [number | null];
  expect(code).toBe(0);
}

/** A team whose only member is always on call, and a policy that reaches who is on call. */
async function onCall(shop: Shop & { organization: number }): Promise<void> {
  const of = (path: string) => `/api/organizations/${shop.organization}/${path}`;
  const me = await call<{ user: { id: number } }>(shop, "GET", "/api/me/login-bundle");
  const make = async (path: string, body: object) => (await call<{ id: number }>(shop, "POST", of(path), body)).id;
  const team = { name: "Shop", memberIds: [me.user.id], projectIds: [shop.project] };
  const layer = {
    name: "all",
    rotationType: "weekly",
    rotationStart: "2026-01-05",
    handoffTime: "09:00",
    handoffDay: 1,
    userIds: [me.user.id],
    restrictions: [],
  };
  const schedule = await make("schedules", {
    teamId: await make("teams", team),
    name: "Primary",
    timezone: "Europe/Berlin",
    definition: { layers: [layer] },
  });
  const steps = [{ targets: [{ type: "schedule", id: schedule }], delayMinutes: 30 }];
  await make("escalation-policies", { name: "Wake us", definition: { steps, repeat: 0, urgency: "auto" } });
}

/** Loads a page until it shows what is expected: the server works meanwhile. */
async function until(page: Page, url: string, look: () => Promise<void>): Promise<void> {
  await expect(async () => {
    await page.goto(url);
    await look();
  }).toPass(SOON);
}

test("a bad release pages who is on call, and is over when the shop has recovered", async ({ page, browser }) => {
  test.setTimeout(300_000);
  const server = await startServer("127.0.0.1", "off", QUICK);
  let release: ChildProcess | undefined;
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(`${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => problems.push(error.message));
  try {
    const shop = await register(server.url);
    await enter(page, shop);
    await onCall(shop);
    // What the shop always does is known before the rules are.
    const quietEnd = new Date(Date.now() - QUIET_MINUTES * 60_000).toISOString();
    await history(shop, "--history-minutes", "60", "--now", quietEnd);

    // A channel that pages, and one that mails.
    await page.goto(at(shop, "/alerts/channels"));
    await page.getByRole("button", { name: "New channel" }).click();
    const channel = page.getByRole("dialog", { name: "New channel" });
    await channel.getByLabel("Name", { exact: true }).fill("Who is on call");
    await channel.getByLabel("Type").selectOption("escalation");
    await channel.getByLabel("Policy", { exact: true }).selectOption({ label: "Wake us" });
    await channel.getByRole("button", { name: "Make the channel" }).click();
    await expect(channel).toHaveCount(0);
    const mailTo = { name: "Team mail", channelType: "email", config: { recipients: ["team@example.com"] } };
    const of = (path: string) => `${path}?projectId=${shop.project}`;
    const mail = await call<{ id: number }>(shop, "POST", of("/api/notification-channels"), mailTo);

    // A rule by hand; the others over the API.
    await page.goto(at(shop, "/alerts/rules"));
    await page.getByRole("button", { name: "New rule" }).first().click();
    const dialog = page.getByRole("dialog", { name: "New rule" });
    await dialog.getByLabel("Type").selectOption({ label: "Endpoints: Error rate of an endpoint" });
    await dialog.getByLabel("Endpoint", { exact: true }).fill(ORDERS);
    await dialog.getByLabel("Threshold, %").fill("4");
    await dialog.getByLabel("Measured over, minutes").fill("5");
    await dialog.getByLabel("Name").fill("Orders fail");
    await dialog.getByLabel("Channel").selectOption({ label: "Who is on call" });
    await dialog.getByLabel("Severity").selectOption("critical");
    await dialog.getByRole("button", { name: "Create rule" }).click();
    await expect(dialog).toHaveCount(0);
    const slow = { rows: "endpoint", query: `name="${ORDERS}"`, measure: "p50", operator: "gt", thresholdValue: 700 };
    for (const [name, ruleType, config] of [
      ["Orders are slow", "query_threshold", slow],
      ["New Issues", "new_error", {}],
      ["Apdex", "apdex_drop", { thresholdApdex: 0.05 }],
    ] as const)
      await call(shop, "POST", of("/api/notification-rules"), { channelId: mail.id, name, ruleType, config });

    // The release, which goes on live.
    release = traffic(shop, "--incident", "release", "--history-minutes", String(QUIET_MINUTES), "--seed", "2");
    const ended = once(release, "exit");

    // The page of who is on call, in the mail.
    const link = await mailedLink(server.mails, ACCOUNT.email, "ack", 120);
    const other = await browser.newContext({ viewport: { width: 390, height: 844 } });
    const phone = await other.newPage();
    await phone.goto(link);
    await expect(phone.getByRole("main")).toContainText(`${ORDERS}: `);
    await expect(phone.getByRole("main")).toContainText("% of requests fail");

    // All of them are one incident.
    const alerts = page.getByRole("list", { name: "Alerts" }).getByRole("listitem");
    const timeline = page.getByRole("list", { name: "Timeline" });
    await until(page, at(shop, "/incidents"), async () => {
      const rows = page.getByRole("table", { name: "Incidents" }).locator("[data-row-link]");
      await expect(rows).toHaveCount(1, { timeout: 2000 });
      await rows.click();
      await expect(alerts).toHaveCount(3, { timeout: 2000 });
      await expect(timeline).toContainText("Deploy: checkout 1.42.0", { timeout: 2000 });
    });
    const incident = page.url();
    await expect(alerts.filter({ hasText: "% of requests fail" })).toContainText("fires");
    await expect(alerts.filter({ hasText: "P50 of endpoints" })).toContainText("fires");
    await expect(alerts.filter({ hasText: "New Issue: shop.orders.TotalMismatch" })).toContainText("fired");
    const issue = timeline.getByRole("link", { name: /^shop\.orders\.TotalMismatch/ });
    await expect(issue).toHaveCount(1);
    expect(await serious(page)).toEqual([]);
    // Its Issue is a link.
    await issue.click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("shop.orders.TotalMismatch");
    const issuePage = page.url();

    // The bell, and the history.
    await page.getByRole("button", { name: "Alerts: 3 open" }).click();
    const lately = page.getByRole("dialog", { name: "What fired lately" }).getByRole("listitem");
    await expect(lately).toHaveCount(3);
    await page.keyboard.press("Escape");
    await page.goto(at(shop, "/alerts/rules"));
    for (const [rule, state] of [
      ["Orders fail", true],
      ["Orders are slow", true],
      ["Apdex", false],
    ] as const) {
      const row = page.getByRole("row", { name: new RegExp(rule) });
      if (state) await expect(row).toContainText("firing");
      else await expect(row).not.toContainText("firing");
    }

    // The person on call acknowledges with the link of the mail.
    await page.goto(at(shop, "/on-call?tab=pages"));
    await expect(page.getByRole("table", { name: "Pages" }).getByRole("row")).toHaveCount(2);
    await expect(page.getByRole("table", { name: "Pages" })).toContainText("open");
    await phone.getByRole("button", { name: "Acknowledge" }).click();
    await expect(phone.getByRole("heading", { level: 1 })).toHaveText("Acknowledged");
    await page.reload();
    await page.getByRole("link", { name: new RegExp(`^${ORDERS}: `) }).click();
    const detail = page.getByRole("dialog", { name: new RegExp(`^${ORDERS}: `) });
    await expect(detail).toContainText(`Acknowledged by ${ACCOUNT.name} with a link`);
    await expect(detail.getByRole("region", { name: "Deliveries" })).toContainText("sent");

    // The release is rolled back.
    release.kill("SIGINT");
    await ended;
    await history(shop, "--history-minutes", "3", "--rate", "40", "--seed", "3");
    await until(page, at(shop, "/alerts/history?status=resolved"), async () => {
      const rows = page.getByRole("table", { name: "Notifications" }).locator("[data-row-link]");
      await expect(rows).toHaveCount(2, { timeout: 2000 });
    });
    await until(page, at(shop, "/on-call?tab=pages&state=resolved"), async () => {
      const row = page.getByRole("table", { name: "Pages" }).getByRole("row").nth(1);
      await expect(row).toContainText("resolved", { timeout: 2000 });
      await page.getByRole("link", { name: new RegExp(`^${ORDERS}: `) }).click();
      await expect(detail).toContainText("by the end of the alert", { timeout: 2000 });
    });
    await until(page, incident, async () => {
      await expect(page.getByText("Resolved", { exact: true }).first()).toBeVisible({ timeout: 2000 });
    });
    await expect(timeline).toContainText("All alerts of this incident have ended.");
    await expect(timeline.getByText("Alert ended:")).toHaveCount(2);
    await page.getByRole("button", { name: "Write", exact: true }).click();
    await expect(page.getByLabel("Markdown")).toHaveValue(/New Issue: shop\.orders\.TotalMismatch/);
    await page.goto(at(shop, "/incidents"));
    await expect(page.getByText("No open incidents")).toBeVisible();
    // The Issue is left: its alert is open until somebody decides about it.
    await expect(page.getByRole("button", { name: "Alerts: 1 open" })).toBeVisible();
    await page.goto(issuePage);
    await page.getByRole("button", { name: "Resolve", exact: true }).click();
    await expect(page.getByRole("button", { name: "Resolve", exact: true })).toHaveCount(0);
    await page.goto(at(shop, "/alerts/history"));
    await expect(page.getByRole("row", { name: /New Issue/ })).toContainText("fired");
    await expect(page.getByRole("button", { name: "Alerts", exact: true })).toBeVisible();
    await expect(page.getByText("firing", { exact: true })).toHaveCount(0);
    // The link is over with the page.
    const later = await other.newPage();
    await later.goto(link);
    await expect(later.getByRole("heading", { level: 1 })).toHaveText("This link is not known");
    await other.close();
    expect(problems).toEqual([]);
  } finally {
    release?.kill("SIGKILL");
    await server.stop();
  }
});
