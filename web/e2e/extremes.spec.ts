// Every page without data, with one row, with 10,000, with hostile content, and with a slow and a failing API.
import type { Page } from "@playwright/test";
import { serious } from "./support/axe.ts";
import { HOSTILE_TRACE, hostileProject, manyProject, singleProject } from "./support/extremes.ts";
import { at, expect, type Shop, test } from "./support/fixtures.ts";
import { cutOff } from "./support/layout.ts";
import { newProject } from "./support/project.ts";

const LISTS: [string, string][] = [
  ["overview", ""],
  ["endpoints", "/endpoints"],
  ["tasks", "/tasks"],
  ["ai", "/ai"],
  ["ai-models", "/ai?by=model"],
  ["ai-conversations", "/ai?by=conversation"],
  ["ai-users", "/ai?by=user"],
  ["issues", "/issues"],
  ["sessions", "/sessions"],
  ["traces", "/traces"],
  ["logs", "/logs"],
  ["metrics", "/metrics"],
  ["profiles", "/profiles"],
  ["deploys", "/deploys"],
  ["connect", "/connect"],
  ["settings", "/settings"],
  ["symbols", "/settings/symbols"],
];
const SIZES = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };

async function settled(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle");
  await expect(page.getByRole("main")).toBeVisible();
  await expect(page.locator("h1, h2").first()).toBeVisible();
  await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
}

/** The page is as wide as the window, axe finds nothing serious, and no text is cut off. */
async function sound(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: `test-results/screens/extreme-${name}.png` });
  expect.soft(await serious(page), `${name}: axe`).toEqual([]);
  const wide = await page.evaluate(() => {
    const main = document.querySelector("main");
    const isWide = document.documentElement.scrollWidth > innerWidth + 1;
    if (!main || (!isWide && main.scrollWidth <= main.clientWidth + 1)) return [];
    const end = main.getBoundingClientRect().left + main.clientWidth + 1;
    const past = [...main.querySelectorAll("*")].filter((one) => one.getBoundingClientRect().right > end);
    return ["main", ...past.map((one) => one.outerHTML)].map((one) => one.slice(0, 160)).slice(0, 8);
  });
  expect.soft(wide, `${name}: wider than the window`).toEqual([]);
  expect.soft(await cutOff(page), `${name}: cut off`).toEqual([]);
}

/** Pages of single rows, by the first links of the lists. */
async function linked(page: Page, of: Shop): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for (const list of ["endpoints", "tasks", "ai", "issues", "deploys"]) {
    await page.goto(at(of, `/${list}`));
    await settled(page);
    const link = page.locator(`main tbody a[href*="/${list}/"]`);
    for (let index = 0; index < Math.min(await link.count(), 6); index++)
      found.push([`${list}-${index}`, new URL((await link.nth(index).getAttribute("href")) ?? "", of.url).href]);
  }
  return found;
}

for (const [size, viewport] of Object.entries(SIZES)) {
  test(`a project without data, ${size}`, async ({ page, shop }) => {
    test.setTimeout(120_000);
    const empty = await newProject(shop, `empty ${size}`);
    await page.setViewportSize(viewport);
    for (const [name, path] of LISTS) {
      await page.goto(at(empty, path));
      await settled(page);
      await sound(page, `empty-${name}-${size}`);
    }
  });

  test(`hostile content, ${size}`, async ({ page, shop }) => {
    test.setTimeout(300_000);
    const hostile = await hostileProject(shop);
    await page.setViewportSize(viewport);
    page.on("dialog", (dialog) => expect(dialog.message(), "no page opens a dialog").toBe(""));
    const pages: [string, string][] = LISTS.map(([name, path]) => [name, at(hostile, path)]);
    const tabs = ["", "?tab=spans", "?tab=logs", "?tab=issues", "?tab=ai", "?tab=map", "?tab=flame"];
    pages.push(...tabs.map((tab): [string, string] => [`trace${tab}`, at(hostile, `/traces/${HOSTILE_TRACE}${tab}`)]));
    pages.push(...(await linked(page, hostile)));
    for (const [name, url] of pages) {
      await page.goto(url);
      await settled(page);
      await sound(page, `hostile-${name.replace("?", "-")}-${size}`);
      const harm = await page.evaluate(() => ({
        ran: "hacked" in window,
        images: document.querySelectorAll('img[src="x"]').length,
        links: document.querySelectorAll('a[href^="javascript:" i]').length,
      }));
      expect.soft(harm, name).toEqual({ ran: false, images: 0, links: 0 });
    }
  });
}

test("one row of each kind", async ({ page, shop }) => {
  test.setTimeout(120_000);
  const single = await singleProject(shop);
  for (const [name, url] of [
    ...LISTS.map(([name, path]): [string, string] => [name, at(single, path)]),
    ...(await linked(page, single)),
  ]) {
    await page.goto(url);
    await settled(page);
    await sound(page, `single-${name}`);
  }
});

test("10,000 traces and log records, 2,000 endpoints and issues", async ({ page, shop }) => {
  test.setTimeout(180_000);
  const many = await manyProject(shop);
  for (const [name, path] of LISTS) {
    await page.goto(at(many, path));
    await settled(page);
    await sound(page, `many-${name}`);
  }
  await page.goto(at(many, "/endpoints"));
  await expect(page.getByText(/2,000/).first()).toBeVisible();
});

test("every page says that the API fails, and offers to try again", async ({ page, shop, problems }) => {
  test.setTimeout(180_000);
  let isDown = false;
  await page.route("**/api/**", (route) =>
    isDown && !route.request().url().includes("/api/me/")
      ? route.fulfill({ status: 503, contentType: "application/json", body: '{"error":"the store is busy"}' })
      : route.continue(),
  );
  const shown = LISTS.filter(([name]) => !["connect", "settings", "symbols"].includes(name));
  for (const [name, path] of shown) {
    isDown = true;
    await page.goto(at(shop, path));
    const alert = page.getByRole("alert").filter({ hasText: "The store is busy" });
    await expect.soft(alert.first(), `${name}: the cause is shown`).toBeVisible({ timeout: 20_000 });
    await sound(page, `failing-${name}`);
    isDown = false;
    const retry = page.getByRole("button", { name: "Try again" });
    while (await retry.count()) {
      const before = await retry.count();
      await retry.first().click();
      await expect.poll(() => retry.count(), { message: `${name}: recovers` }).toBeLessThan(before);
    }
    await settled(page);
  }
  problems.length = 0;
});

test("every page has its place before the API has answered", async ({ page, shop }) => {
  test.setTimeout(180_000);
  let release = () => {};
  let held = Promise.resolve();
  await page.route("**/api/**", async (route) => {
    if (!route.request().url().includes("/api/me/")) await held;
    await route.continue().catch(() => undefined);
  });
  for (const [name, path] of LISTS) {
    held = new Promise((resume) => {
      release = () => resume();
    });
    await page.goto(at(shop, path), { waitUntil: "domcontentloaded" });
    await expect(page.locator("h1, h2").first()).toBeVisible();
    await sound(page, `slow-${name}`);
    release();
    await settled(page);
  }
});
