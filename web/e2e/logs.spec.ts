// The Logs page: live tail, surrounding lines, patterns, columns and JSON bodies, exports. A project of its own.
import { readFile } from "node:fs/promises";
import { at, test as base, expect, type Shop } from "./support/fixtures.ts";
import { look } from "./support/layout.ts";
import { mustPost, resourceLogs } from "./support/otlp.ts";
import { newProject, shared } from "./support/project.ts";

const JSON_BODY = '{"msg":"order placed","user":{"id":42,"plan":"pro"},"items":[{"sku":"a-1"}],"total":12.5}';

const ownOf = shared(async (shop) => {
  const own = await newProject(shop, "logs");
  const lines = Array.from({ length: 30 }, (_, i) => ({
    at: i * 1000,
    severity: i % 10 === 0 ? 17 : 9,
    text: i % 10 === 0 ? "ERROR" : "INFO",
    body: i % 10 === 0 ? `payment ${i} declined after ${i}.5 ms` : `Connection from 10.0.0.${i} closed`,
    service: "shop",
  }));
  lines.push({ at: 15_500, severity: 9, text: "INFO", body: JSON_BODY, service: "orders" });
  await send(own, lines, Date.now() - 600_000);
  return own;
});
const test = base.extend<{ own: Shop }>({
  own: async ({ shop }, use) => use(await ownOf(shop)),
});

type Line = Parameters<typeof resourceLogs>[1][number];

async function send(own: Shop, lines: Line[], startMs = Date.now()): Promise<void> {
  await mustPost(own.url, own.token, "logs", { resourceLogs: resourceLogs(startMs, lines) });
}

const line = (body: string, severity = 9): Line => ({
  at: 0,
  severity,
  text: severity >= 17 ? "ERROR" : "INFO",
  body,
  service: "live",
});

test("live: stored records appear, a pause holds them, filters apply, and what is left out is counted", async ({
  page,
  own,
}) => {
  await page.goto(at(own, "/logs"));
  await expect(page.getByRole("table", { name: "Logs" })).toBeVisible();
  await page.keyboard.press("l");
  await expect(page).toHaveURL(/live=1/);
  const status = page.getByRole("status").filter({ hasText: /Live|Paused/ });
  await expect(status).toHaveText("Live");
  const live = page.getByRole("table", { name: "Live logs" });
  await send(own, [line("first live line")]);
  await expect(live).toContainText("first live line");
  await page.keyboard.press("p");
  await expect(status).toHaveText(/Paused/);
  await send(own, [line("a held line")]);
  await expect(status).toHaveText("Paused, 1 new record");
  await expect(live).not.toContainText("a held line");
  await page.getByRole("button", { name: "Resume" }).click();
  await expect(live).toContainText("a held line");
  // One request with more than an event shows.
  await send(
    own,
    Array.from({ length: 120 }, (_, i) => line(`burst ${i}`)),
  );
  await expect(live).toContainText("burst 119");
  await expect(page.getByText("70 left out")).toBeVisible();
  await look(page, "logs-live");

  const bar = page.getByRole("combobox", { name: "Search logs" });
  await bar.fill("level>=error");
  await bar.press("Enter");
  await expect(status).toHaveText("Live");
  await send(own, [line("not an error"), line("an error at last", 17)]);
  await expect(live).toContainText("an error at last");
  await expect(live.getByRole("row")).toHaveCount(1);
  await page.getByRole("button", { name: "Live", exact: true }).click();
  await expect(page).not.toHaveURL(/live=1/);
  await expect(page.getByRole("table", { name: "Logs" })).toContainText("an error at last");
});

test("live: a wrong query shows its place", async ({ page, own, problems }) => {
  await page.goto(at(own, "/logs?live=1&service=shop&q=level:none"));
  const fault = page.locator("p[role=alert]", { hasText: "takes trace, debug" });
  await expect(fault.locator("mark")).toHaveText("none");
  // The browser logs the refused requests.
  problems.length = 0;
});

test("surrounding lines of a record", async ({ page, own }) => {
  await page.goto(at(own, '/logs?q="payment 10"'));
  const logs = page.getByRole("table", { name: "Logs" });
  await expect(logs.getByRole("row")).toHaveCount(1);
  await logs.getByRole("button", { name: /Show details/ }).click();
  await logs.getByRole("button", { name: "Show surrounding lines" }).click();
  const lines = logs.getByRole("list", { name: "Lines, oldest first" }).getByRole("listitem");
  await expect(lines).toHaveCount(21);
  await expect(lines.nth(0)).toContainText("payment 0 declined");
  await expect(lines.nth(10)).toHaveAttribute("aria-current", "true");
  await expect(lines.nth(10)).toContainText("payment 10 declined");
  await expect(lines.nth(11)).toContainText("10.0.0.11");
  await look(page, "logs-around");
  await logs.getByRole("button", { name: "Later lines" }).click();
  await expect(lines).toHaveCount(30);
});

test("patterns: shares, an example, and a click that filters", async ({ page, own }) => {
  await page.goto(at(own, "/logs?q=-service:live"));
  await page.getByRole("button", { name: "Patterns" }).click();
  const patterns = page.getByRole("list", { name: "Patterns" }).getByRole("listitem");
  await expect(patterns).toHaveCount(3);
  await expect(page.getByText("3 patterns of 31 records")).toBeVisible();
  await expect(patterns.nth(0)).toContainText("Connection from <ip> closed");
  await expect(patterns.nth(0)).toContainText("27");
  await patterns
    .nth(1)
    .getByRole("button", { name: /Show an example/ })
    .click();
  await expect(patterns.nth(1)).toContainText("payment 0 declined after 0.5 ms");
  await look(page, "logs-patterns");
  await patterns
    .nth(1)
    .getByRole("button", { name: /^payment <num> declined/ })
    .click();
  const logs = page.getByRole("table", { name: "Logs" });
  await expect(logs.getByRole("row")).toHaveCount(3);
  await expect(page.getByRole("combobox", { name: "Search logs" })).toHaveValue(/body:payment/);
});

test("JSON bodies are trees, their fields are columns and conditions", async ({ page, own }) => {
  await page.goto(at(own, "/logs?q=service:orders"));
  const logs = page.getByRole("table", { name: "Logs" });
  await expect(logs.getByRole("row")).toHaveCount(1);
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("checkbox", { name: "body.user.plan" }).check();
  await page.keyboard.press("Escape");
  await expect(logs.getByRole("columnheader", { name: "body.user.plan" })).toBeVisible();
  await expect(logs.getByRole("cell", { name: "pro", exact: true })).toBeVisible();
  await expect(page).toHaveURL(/cols=body.user.plan/);
  await logs.getByRole("button", { name: /Show details/ }).click();
  const tree = logs.getByRole("group", { name: "Fields of body" });
  await expect(tree).toContainText("a-1");
  await look(page, "logs-json");
  await tree.getByRole("button", { name: "Column body.total" }).click();
  await expect(page).toHaveURL(/cols=body.user.plan,body.total/);
  await tree.getByRole("button", { name: "Add body.user.id to the query" }).click();
  await expect(page.getByRole("combobox", { name: "Search logs" })).toHaveValue("service:orders body.user.id:42");
  await expect(logs).toContainText("order placed");
  await page.reload();
  await expect(logs.getByRole("columnheader", { name: "body.total" })).toBeVisible();
  await expect(logs.getByRole("cell", { name: "12.5", exact: true })).toBeVisible();
});

test("what the filters hold is exported", async ({ page, own }) => {
  await page.goto(at(own, "/logs?q=service:shop payment"));
  await expect(page.getByRole("table", { name: "Logs" }).getByRole("row")).toHaveCount(3);
  for (const [format, lines] of [
    ["NDJSON", 3],
    ["CSV", 4],
  ] as const) {
    await page.getByRole("button", { name: "Export" }).click();
    const saved = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: new RegExp(format) }).click();
    const file = await saved;
    expect(file.suggestedFilename()).toBe(`logs.${format.toLowerCase()}`);
    const text = await readFile(await file.path(), "utf8");
    expect(text.trim().split("\n")).toHaveLength(lines);
    expect(text).toContain("payment 20 declined");
  }
});
