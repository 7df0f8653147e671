// Every page without data, with one row, with 10,000, with hostile content, and with a slow and a failing API.
import type { Page } from "@playwright/test";
import { HOSTILE_TRACE, hostileProject, manyProject, singleProject } from "./support/extremes.ts";
import { at, test as base, expect, type Shop } from "./support/fixtures.ts";
import { look, rowBoxes } from "./support/layout.ts";
import { newProject, shared } from "./support/project.ts";
import { settled } from "./support/settled.ts";

const hostileOf = shared(hostileProject);
const test = base.extend<{ hostile: Shop }>({
  hostile: async ({ shop }, use) => use(await hostileOf(shop)),
});
test.describe.configure({ mode: "parallel" });

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
/** Opens the page; the theme is that of most checks, because themes have no extremes. */
async function open(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await expect(page.locator("h1, h2").first()).toBeVisible();
  await settled(page);
}
const LIGHT = { themes: ["light"] } satisfies Parameters<typeof look>[2];
const DESKTOP = { ...LIGHT, sizes: ["desktop"] } satisfies Parameters<typeof look>[2];
/** Axe reads what only these tests show: pages without data, before the response, and after an error. */
const LAYOUT = { ...LIGHT, onlyLayout: true } satisfies Parameters<typeof look>[2];
const DESKTOP_LAYOUT = { ...DESKTOP, onlyLayout: true } satisfies Parameters<typeof look>[2];

/** Pages of single rows, by the first links of the lists. */
async function linked(page: Page, of: Shop): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for (const list of ["endpoints", "tasks", "ai", "issues", "deploys"]) {
    await open(page, at(of, `/${list}`));
    const link = page.locator(`main tbody a[href*="/${list}/"]`);
    for (let index = 0; index < Math.min(await link.count(), 6); index++)
      found.push([`${list}-${index}`, new URL((await link.nth(index).getAttribute("href")) ?? "", of.url).href]);
  }
  return found;
}

test("a project without data", async ({ page, shop }) => {
  test.setTimeout(400_000);
  const empty = await newProject(shop, "empty");
  for (const [name, path] of LISTS) {
    await open(page, at(empty, path));
    await look(page, `empty-${name}`, LIGHT);
  }
});

/** No string of the hostile project has become a part of the page. */
async function harmless(page: Page, name: string): Promise<void> {
  const harm = await page.evaluate(() => ({
    ran: "hacked" in window,
    images: document.querySelectorAll('img[src="x"]').length,
    links: document.querySelectorAll('a[href^="javascript:" i]').length,
  }));
  expect.soft(harm, name).toEqual({ ran: false, images: 0, links: 0 });
}

const HOSTILE = [
  [
    "lists and a trace",
    async (_: Page, hostile: Shop): Promise<[string, string][]> => [
      ...LISTS.map(([name, path]): [string, string] => [name, at(hostile, path)]),
      ...["", "?tab=spans", "?tab=logs", "?tab=issues", "?tab=ai", "?tab=map", "?tab=flame"].map(
        (tab): [string, string] => [`trace${tab.replace("?", "-")}`, at(hostile, `/traces/${HOSTILE_TRACE}${tab}`)],
      ),
    ],
  ],
  ["pages of one row", linked],
] as const;
for (const [part, pages] of HOSTILE)
  test(`hostile content: ${part}`, async ({ page, hostile }) => {
    test.setTimeout(400_000);
    page.on("dialog", (dialog) => expect(dialog.message(), "no page opens a dialog").toBe(""));
    for (const [name, url] of await pages(page, hostile)) {
      await open(page, url);
      await look(page, `hostile-${name}`, LAYOUT);
      const { widths, heights } = await rowBoxes(page);
      // Rows of AI traces have chips for what was cut off, unpriced or flagged in more lines.
      if (["overview", "endpoints", "tasks", "issues"].includes(name) && widths.length) {
        expect.soft(Math.min(...widths), `${name}: a name has at least this width`).toBeGreaterThanOrEqual(280);
        expect.soft(Math.max(...heights), `${name}: long names do not make rows higher`).toBeLessThanOrEqual(56);
      }
      await harmless(page, name);
    }
  });

test("one row of each kind", async ({ page, shop }) => {
  test.setTimeout(400_000);
  const single = await singleProject(shop);
  for (const [name, url] of [
    ...LISTS.map(([name, path]): [string, string] => [name, at(single, path)]),
    ...(await linked(page, single)),
  ]) {
    await open(page, url);
    await look(page, `single-${name}`, DESKTOP_LAYOUT);
  }
});

test("10,000 traces and log records, 2,000 endpoints and issues", async ({ page, shop }) => {
  test.setTimeout(400_000);
  const many = await manyProject(shop);
  for (const [name, path] of LISTS) {
    await open(page, at(many, path));
    await look(page, `many-${name}`, DESKTOP_LAYOUT);
  }
  await page.goto(at(many, "/endpoints"));
  await expect(page.getByText(/2,000/).first()).toBeVisible();
});

test("every page says that the API fails, and offers to try again", async ({ page, shop, problems }) => {
  test.setTimeout(400_000);
  let isDown = false;
  // A status that is not requested again by itself, so that the page shows it at once.
  await page.route("**/api/**", (route) =>
    isDown && !route.request().url().includes("/api/me/")
      ? route.fulfill({ status: 409, contentType: "application/json", body: '{"error":"the store is busy"}' })
      : route.continue(),
  );
  const shown = LISTS.filter(([name]) => !["connect", "settings", "symbols"].includes(name));
  for (const [name, path] of shown) {
    isDown = true;
    await page.goto(at(shop, path));
    const alert = page.getByRole("alert").filter({ hasText: "The store is busy" });
    await expect.soft(alert.first(), `${name}: the cause is shown`).toBeVisible();
    await look(page, `failing-${name}`, DESKTOP);
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
  test.setTimeout(400_000);
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
    await look(page, `slow-${name}`, { ...DESKTOP, loading: true });
    release();
    await settled(page);
  }
});
