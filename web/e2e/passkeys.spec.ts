// Passkeys with Chromium's virtual authenticator. Uses a separate server, because passkeys need a host name, not an IP.
import type { Page } from "@playwright/test";
import { serious } from "./support/axe.ts";
import { test as base, expect } from "./support/base.ts";
import { ACCOUNT, register } from "./support/fixtures.ts";
import { type Server, startServer } from "./support/server.ts";

// One server per test, because of the limit of ten logins per minute and address.
const test = base.extend<{ named: Server }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the parameter's shape
  named: async ({}, use) => {
    const server = await startServer("localhost");
    await register(server.url);
    await use(server);
    await server.stop();
  },
});

/** Adds a virtual authenticator to the page. It confirms every request at once. */
async function authenticator(page: Page, transport: "internal" | "usb", hasPin: boolean): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("WebAuthn.enable");
  await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport,
      hasResidentKey: hasPin,
      hasUserVerification: hasPin,
      isUserVerified: hasPin,
      automaticPresenceSimulation: true,
    },
  });
}

async function signIn(page: Page, server: Server): Promise<void> {
  await page.goto(`${server.url}/login`);
  await page.getByLabel("E-mail").fill(ACCOUNT.email);
  await page.getByLabel("Password").fill(ACCOUNT.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

async function signOut(page: Page): Promise<void> {
  await page.evaluate(() => localStorage.removeItem("tidewatch.signed-in"));
  await page.context().clearCookies();
}

async function add(page: Page, server: Server, name: string): Promise<void> {
  await page.goto(`${server.url}/account?tab=security`);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Your password").fill(ACCOUNT.password);
  await page.getByRole("button", { name: "Go on" }).click();
  await expect(page.getByText("Passkey added")).toBeVisible();
}

async function keepCodes(page: Page): Promise<void> {
  const codes = page.getByRole("list", { name: "Recovery codes" }).getByRole("listitem");
  await expect(codes).toHaveCount(10);
  await page.getByRole("switch").click();
  await page.getByRole("button", { name: "Done" }).click();
}

async function remove(page: Page, server: Server, name: string): Promise<void> {
  await page.goto(`${server.url}/account?tab=security`);
  await page.getByRole("button", { name: `Remove the passkey ${name}` }).click();
  await page.getByLabel("Your password").fill(ACCOUNT.password);
  await page.getByRole("button", { name: "Remove the passkey", exact: true }).click();
  await expect(page.getByText(`Passkey ${name} removed`)).toBeVisible();
}

test("a passkey is added, renamed, used instead of the password, removed", async ({ page, named }) => {
  await authenticator(page, "internal", true);
  await signIn(page, named);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Overview");
  await add(page, named, "Laptop");
  await keepCodes(page);
  await expect(page.getByText("10 recovery codes left")).toBeVisible();
  expect(await serious(page)).toEqual([]);
  await page.getByRole("button", { name: "Rename the passkey Laptop" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Work laptop");
  await page.getByRole("button", { name: "Rename", exact: true }).click();
  await expect(page.getByText("Work laptop")).toBeVisible();

  await signOut(page);
  await page.goto(`${named.url}/login?next=/account?tab=security`);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await expect(page).toHaveURL(/\/account/);
  await expect(page.getByText(/^Added .*, used /)).toBeVisible();
  // The password is now the first of two steps.
  await signOut(page);
  await signIn(page, named);
  await page.getByRole("button", { name: "Use the passkey" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Overview");

  await remove(page, named, "Work laptop");
  await signOut(page);
  await page.goto(`${named.url}/login`);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await expect(page.getByRole("alert")).toContainText("No account here knows this passkey");
});

test("a security key without a PIN is a second step only", async ({ page, named }) => {
  await authenticator(page, "usb", false);
  await signIn(page, named);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Overview");
  await add(page, named, "Key");
  await keepCodes(page);
  await signOut(page);
  await signIn(page, named);
  await page.getByRole("button", { name: "Use the passkey" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Overview");
  await remove(page, named, "Key");
  await signOut(page);
  await signIn(page, named);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Overview");
});
