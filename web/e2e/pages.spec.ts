// Every page in both themes and on a phone: axe finds nothing serious, nothing overflows sideways, and a picture is kept.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "@playwright/test";
import { at, expect, type Shop, test } from "./support/fixtures.ts";
import { BIG, CHECKOUT, SPAN } from "./support/seed.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const PAGES: [string, string][] = [
  ["overview", ""],
  ["endpoints", "/endpoints"],
  ["endpoints-lines", "/endpoints?metric=p95"],
  ["endpoint", "/endpoints/POST%20%2Fcheckout"],
  ["tasks", "/tasks"],
  ["task", "/tasks/order.placed%20process"],
  ["ai", "/ai"],
  ["ai-name", "/ai/fraud-check"],
  ["issues", "/issues"],
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
  ["empty-logs", "/logs?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z"],
  ["no-such-trace", `/traces/${"ab".repeat(16)}`],
];

async function settled(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle");
  await expect(page.locator("h1, h2").first()).toBeVisible();
  await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
}

async function serious(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const results = await page.evaluate(async () => {
    const axe = (
      window as unknown as {
        axe: {
          run: (
            root: Document,
            options: object,
          ) => Promise<{
            violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
          }>;
        };
      }
    ).axe;
    const { violations } = await axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    });
    return violations.map((one) => ({
      id: one.id,
      impact: one.impact,
      where: one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 200)} :: ${node.failureSummary.slice(0, 300)}`),
    }));
  });
  return results
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .map((one) => `${one.id}: ${one.where.join(" | ")}`);
}

const SIZES = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };
const address = (shop: Shop, path: string) => at(shop, path);

for (const theme of ["light", "dark"] as const)
  for (const [size, viewport] of Object.entries(SIZES))
    test(`every page, ${theme}, ${size}`, async ({ page, shop, problems }) => {
      test.setTimeout(240_000);
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      for (const [name, path] of PAGES) {
        await page.goto(address(shop, path));
        await settled(page);
        await page.screenshot({ path: `test-results/screens/${name}-${size}-${theme}.png` });
        expect.soft(await serious(page), `${name}: axe`).toEqual([]);
        const overflow = await page.evaluate(() => {
          const main = document.querySelector("main");
          return (
            document.documentElement.scrollWidth > innerWidth + 1 || (!!main && main.scrollWidth > main.clientWidth + 1)
          );
        });
        // The browser itself reports the 404 that this page is about.
        if (name === "no-such-trace") problems.length = 0;
        expect.soft(overflow, `${name}: overflows sideways`).toBe(false);
      }
    });

test("an error says what happened and can be tried again", async ({ page, shop, problems }) => {
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
