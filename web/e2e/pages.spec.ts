// Every page in both themes, on a desktop and on a phone, each opened once: no serious axe violation, no horizontal
// overflow, no words that are cut off.
import { serious } from "./support/axe.ts";
import { at, expect, type Shop, test } from "./support/fixtures.ts";
import { look } from "./support/layout.ts";
import { BIG, CHECKOUT, SPAN } from "./support/seed.ts";

const PAGES: [string, string][] = [
  ["overview", ""],
  ["endpoints", "/endpoints"],
  ["endpoints-lines", "/endpoints?metric=p95"],
  ["endpoint", "/endpoints/POST%20%2Fcheckout"],
  ["tasks", "/tasks"],
  ["task", "/tasks/order.placed%20process"],
  ["ai", "/ai"],
  ["ai-models", "/ai?by=model&metric=token_kinds"],
  ["ai-conversations", "/ai?by=conversation"],
  ["ai-users", "/ai?by=user"],
  ["ai-name", "/ai/fraud-check"],
  ["issues", "/issues"],
  ["sessions", "/sessions"],
  ["traces", "/traces"],
  ["trace", `/traces/${CHECKOUT}`],
  ["trace-span", `/traces/${CHECKOUT}?span=${SPAN.charge}`],
  ["trace-logs", `/traces/${CHECKOUT}?tab=logs`],
  ["trace-issues", `/traces/${CHECKOUT}?tab=issues`],
  ["trace-big", `/traces/${BIG}`],
  ["logs", "/logs"],
  ["metrics", "/metrics?name=queue.length&by=queue&from=now-1h"],
  ["connect", "/connect"],
  ["settings", "/settings"],
  ["symbols-page", "/settings/symbols"],
  ["empty-logs", "/logs?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z"],
  ["no-such-trace", `/traces/${"ab".repeat(16)}`],
];

/** Pages whose URL depends on the stored data. */
async function found(shop: Shop): Promise<[string, string][]> {
  const firstRow = async (path: string) => {
    const answer = await fetch(`${shop.url}${path}?projectId=${shop.project}`, {
      method: "POST",
      headers: { authorization: `Bearer ${shop.session}`, "content-type": "application/json" },
      body: "{}",
    });
    return ((await answer.json()) as { data: { id: string; exceptionHash: string; recordedAt: string }[] }).data[0];
  };
  const issue = await firstRow("/api/exception-stack-traces");
  const call = await firstRow("/api/ai-traces");
  return [
    ["issue", `/issues/${issue.exceptionHash}`],
    ["ai-trace", `/ai/t/${call.id}?at=${encodeURIComponent(call.recordedAt)}`],
  ];
}

const PARTS = 3;
for (let part = 0; part < PARTS; part++)
  test(`every page, part ${part + 1} of ${PARTS}`, async ({ page, shop, problems }) => {
    test.setTimeout(400_000);
    const pages = [...PAGES, ...(await found(shop))].filter((_, index) => index % PARTS === part);
    for (const [name, path] of pages) {
      await page.goto(at(shop, path));
      await expect(page.locator("h1, h2").first()).toBeVisible();
      await look(page, name);
      // The browser logs the expected 404 as a console error.
      if (name === "no-such-trace") problems.length = 0;
    }
  });

test("an error shows its cause and can be retried", async ({ page, shop, problems }) => {
  let fail = true;
  await page.route("**/api/endpoints/grouped*", (route) =>
    fail
      ? route.fulfill({
          status: 504,
          contentType: "application/json",
          body: '{"error":"the query took longer than 30 seconds"}',
        })
      : route.continue(),
  );
  await page.goto(at(shop, "/endpoints"));
  const alert = page.getByRole("alert");
  await expect(alert).toContainText("The query took longer than 30 seconds.");
  expect(await serious(page)).toEqual([]);
  fail = false;
  await alert.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByRole("link", { name: "POST /checkout" })).toBeVisible();
  problems.length = 0;
});

test("an expired session leads to the login page and back", async ({ page, shop, problems }) => {
  await page.route(
    "**/api/endpoints/grouped*",
    (route) => route.fulfill({ status: 401, contentType: "application/json", body: '{"error":"expired"}' }),
    { times: 1 },
  );
  await page.goto(at(shop, "/endpoints?sort=-count"));
  await expect(page).toHaveURL(/\/login\?next=/);
  expect(await serious(page)).toEqual([]);
  await page.getByLabel("E-mail").fill("ada@example.com");
  await page.getByLabel("Password").fill("correct horse");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page).toHaveURL(/\/endpoints\?sort=-count/);
  problems.length = 0;
});

test("dialogs and menus have no serious violations", async ({ page, shop }) => {
  await page.goto(at(shop, "/endpoints"));
  await expect(page.getByRole("link", { name: "POST /checkout" })).toBeVisible();
  await page.getByRole("button", { name: /^Time range/ }).click();
  await expect(page.getByRole("button", { name: "Use these times" })).toBeVisible();
  expect.soft(await serious(page), "time range").toEqual([]);
  await page.getByRole("button", { name: "Last 6 hours" }).click();
  await expect(page).toHaveURL(/from=now-6h/);
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("option").first()).toBeVisible();
  expect.soft(await serious(page), "palette").toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Account and theme" }).click();
  await page.getByRole("menuitemradio", { name: "Dark" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  expect.soft(await serious(page), "account menu").toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
  expect.soft(await serious(page), "help").toEqual([]);
});
