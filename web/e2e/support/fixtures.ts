// `server` is the real binary; `shop` has an account, a project and the seeded data; `page` is signed in and collects
// console errors, page errors and CSP violations. A test fails if there are any.
import { writeFile } from "node:fs/promises";
import type { Browser, Page } from "@playwright/test";
import { test as base, expect } from "./base.ts";
import { seedDesk } from "./desk.ts";
import { seed, seedBig } from "./seed.ts";
import { type Server, startServer } from "./server.ts";
import { watchRequests } from "./settled.ts";

export interface Shop {
  url: string;
  session: string;
  project: string;
  token: string;
}
export const ACCOUNT = {
  name: "Ada Byron",
  email: "ada@example.com",
  password: "correct horse",
  organizationName: "Acme",
  projectName: "shop",
};

const SIGNED_IN = { name: "tidewatch.signed-in", value: "1" };

export const test = base.extend<{ problems: string[] }, { server: Server; shop: Shop; desk: Shop }>({
  server: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the parameter's shape
    async ({}, use) => {
      const server = await startServer();
      await use(server);
      await server.stop();
    },
    { scope: "worker" },
  ],
  shop: [
    async ({ server }, use) => {
      const shop = await register(server.url);
      await seed(shop.url, shop.token);
      await seedBig(shop.url, shop.token);
      await use(shop);
    },
    { scope: "worker" },
  ],
  desk: [
    async ({ shop }, use) => {
      await use(await seedDesk(shop));
    },
    { scope: "worker" },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the parameter's shape
  problems: async ({}, use) => {
    await use([]);
  },
  // Not by an init script: it would run in every frame, also in those without scripts and without storage.
  storageState: async ({ shop }, use) => {
    await use({ cookies: [], origins: [{ origin: shop.url, localStorage: [SIGNED_IN] }] });
  },
  page: async ({ page, shop, problems }, use, info) => {
    watchRequests(page);
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(`${message.text()} ${message.location().url}`);
    });
    page.on("pageerror", (error) => problems.push(error.message));
    await enter(page, shop, true);
    await use(page);
    if (info.status !== info.expectedStatus) await storeContent(page, info.outputPath("page.html"));
    expect(problems, "no errors in the console, no CSP violations").toEqual([]);
  },
});

/** Stores the document as it is now. A page that has crashed has none. */
async function storeContent(page: Page, path: string): Promise<void> {
  const content = await page.content().catch((error: unknown) => `<!-- ${error} -->`);
  await writeFile(path, content);
}

/** Makes the account and its organization and project on a new server. */
export async function register(url: string): Promise<Shop & { organization: number }> {
  const answer = await fetch(`${url}/api/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...ACCOUNT, timezone: "UTC", framework: "opentelemetry" }),
  });
  expect(answer.ok, `registration: ${answer.status}`).toBe(true);
  const { token, project } = (await answer.json()) as {
    token: string;
    project: { id: string; token: string; organizationId: number };
  };
  return { url, session: token, project: project.id, token: project.token, organization: project.organizationId };
}

/** A page without a session, of a visitor with an address of their own: requests per address are limited. Its console
 * errors are ignored, because the browser logs refused sign-ins as errors. */
export async function visitor(browser: Browser, address = randomAddress()): Promise<Page> {
  const context = await browser.newContext({ extraHTTPHeaders: { "x-forwarded-for": address } });
  return context.newPage();
}

/** Signs in like a page: the session is a cookie of the browser. `isRemembered`: the context has `SIGNED_IN`. */
export async function enter(page: Page, shop: Shop, isRemembered = false): Promise<void> {
  const answer = await page.request.post(`${shop.url}/api/login`, {
    // From a separate address, because sign-ins per address are limited.
    headers: { origin: shop.url, "x-forwarded-for": randomAddress() },
    data: { email: ACCOUNT.email, password: ACCOUNT.password },
  });
  expect(answer.ok(), await answer.text()).toBe(true);
  if (!isRemembered) await page.addInitScript(() => localStorage.setItem("tidewatch.signed-in", "1"));
}

/** The token of a sign-in that is recent enough for actions that need one. That of the shop may be older. */
export async function freshSession(shop: Shop): Promise<string> {
  const answer = await fetch(`${shop.url}/api/login`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": randomAddress() },
    body: JSON.stringify({ email: ACCOUNT.email, password: ACCOUNT.password }),
  });
  return ((await answer.json()) as { token: string }).token;
}

const octet = () => 1 + Math.floor(Math.random() * 254);
export const randomAddress = () => `10.${octet()}.${octet()}.${octet()}`;

export { expect };
export const at = (shop: Shop, path = "") => `${shop.url}/p/${shop.project}${path}`;
