// A project's tokens are masked on every page until the user reveals them; copying yields the whole token.
import { serious } from "./support/axe.ts";
import { at, expect, test } from "./support/fixtures.ts";
import { settled } from "./support/settled.ts";

/** Every page of a project, of the account and of the organization. */
const PAGES = [
  "",
  "/endpoints",
  "/tasks",
  "/ai",
  "/issues",
  "/sessions",
  "/traces",
  "/logs",
  "/metrics",
  "/connect",
  "/settings",
  "/settings/symbols",
];
const OTHERS = [
  "/account",
  "/account?tab=security",
  "/account?tab=tokens",
  "/account?tab=apps",
  "/account?tab=log",
  "/organization",
  "/organization?tab=invitations",
  "/organization?tab=sso",
  "/organization?tab=audit",
  "/organization?tab=settings",
];

test("no page shows a project's tokens before the user reveals them", async ({ page, shop }) => {
  test.setTimeout(300_000);
  const answer = await fetch(`${shop.url}/api/projects`, { headers: { authorization: `Bearer ${shop.session}` } });
  const projects = (await answer.json()) as { token: string; sourceMapToken: string }[];
  const secrets = projects.flatMap((project) => [project.token, project.sourceMapToken]);
  expect(secrets.length).toBeGreaterThan(1);
  for (const secret of secrets) expect(secret).toMatch(/^[0-9a-f]{32}$/);
  const shows = async (path: string) => {
    await expect(page.locator("h1").first()).toBeVisible();
    await settled(page);
    const held = await page.evaluate(() => {
      const typed = [...document.querySelectorAll("input, textarea")].map((field) => (field as HTMLInputElement).value);
      return [document.documentElement.outerHTML, location.href, document.title, ...typed].join("\n");
    });
    expect.soft([path, secrets.filter((secret) => held.includes(secret)).length]).toEqual([path, 0]);
  };
  for (const path of PAGES) {
    await page.goto(at(shop, path));
    await shows(path);
  }
  for (const path of OTHERS) {
    await page.goto(shop.url + path);
    await shows(path);
  }
  // Every snippet of Connect, in all languages.
  await page.goto(at(shop, "/connect"));
  const languages = page.getByRole("navigation", { name: "Language" }).getByRole("link");
  await expect(languages.nth(5)).toBeVisible();
  const addresses = await languages.evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href));
  for (const address of addresses) {
    await page.goto(address);
    await shows(address);
  }
});

test("a masked token is shown on request, and always copied in full", async ({ page, shop, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  await page.goto(at(shop, "/connect?lang=curl"));
  const code = page.locator("main pre", { hasText: "curl -sS" });
  await expect(code).toContainText("••••");
  await page.getByRole("button", { name: /^Copy: / }).click();
  expect(await clipboard()).toContain(`Bearer ${shop.token}`);

  // Selected and copied with the keyboard.
  await code.focus();
  await code.evaluate((element) => getSelection()?.selectAllChildren(element));
  await page.keyboard.press("Control+c");
  await expect.poll(clipboard).toContain(`Bearer ${shop.token}`);
  expect(await clipboard()).not.toContain("•");

  const reveal = page.getByRole("button", { name: /^Show the token: / });
  await reveal.click();
  await expect(code).toContainText(shop.token);
  await page.getByRole("button", { name: /^Hide the token: / }).click();
  await expect(code).not.toContainText(shop.token);
  expect(await serious(page)).toEqual([]);

  await page.goto(at(shop, "/settings"));
  await page.getByRole("button", { name: "Copy the upload token" }).click();
  expect(await clipboard()).toMatch(/^[0-9a-f]{32}$/);
});
