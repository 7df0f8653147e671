// Flows that start with a mail: joining an organization, and a new password. The links come from the server's mails.
import type { Page } from "@playwright/test";
import { serious } from "./support/axe.ts";
import { call } from "./support/call.ts";
import { ACCOUNT, expect, freshSession, type Shop, test, visitor } from "./support/fixtures.ts";
import { linkToken, mailedLink } from "./support/mail.ts";

async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

async function invite(page: Page, shop: Shop, email: string): Promise<void> {
  await page.goto(`${shop.url}/organization?tab=invitations`);
  await page.getByLabel("E-mail").fill(email);
  await page.getByRole("button", { name: "Invite" }).click();
  await expect(page.getByRole("table", { name: "Pending invitations" })).toContainText(email);
}

interface Bundle {
  organizations: { id: number; name: string; role: string }[];
}

test("an invitation creates an account, once", async ({ page, shop, server, browser }) => {
  await invite(page, shop, "niklaus@example.com");
  const link = await mailedLink(server.mails, "niklaus@example.com", "accept-invitation");
  const invited = await visitor(browser);
  await invited.goto(link);
  await expect(invited.getByRole("heading", { level: 1 })).toHaveText(/^Join Acme/);
  await expect(invited.getByText(ACCOUNT.name)).toBeVisible();
  expect(await serious(invited)).toEqual([]);
  await invited.getByLabel("Your name").fill("Niklaus");
  await invited.getByLabel("Password").fill("stepwise refinement");
  await invited.getByRole("button", { name: "Create account and join" }).click();
  await expect(invited.getByRole("heading", { level: 1 })).toHaveText("Overview");
  await page.goto(`${shop.url}/organization`);
  await expect(page.getByRole("table", { name: "Members" })).toContainText("niklaus@example.com");
  const again = await visitor(browser);
  await again.goto(link);
  await expect(again.getByRole("heading", { level: 1 })).toHaveText("This invitation is over");
  await again.context().close();
  await invited.context().close();
});

test("a user with an account signs in and accepts; other users see whose invitation it is", async ({
  page,
  shop,
  server,
  browser,
}) => {
  // Grace joins Acme, and is then invited to another organization by its owner.
  await invite(page, shop, "grace@example.com");
  const first = await mailedLink(server.mails, "grace@example.com", "accept-invitation");
  const token = linkToken(first);
  await call(shop, "POST", `/api/invitations/${token}/accept`, { name: "Grace", password: "nanoseconds" });
  const made = await call<{ id: number }>(shop, "POST", "/api/organizations", { name: "Navy" });
  const invitation = { email: "grace@example.com", role: "admin" };
  await call(shop, "POST", `/api/organizations/${made.id}/invitations`, invitation, await freshSession(shop));
  await expect.poll(() => mailedLink(server.mails, "grace@example.com", "accept-invitation")).not.toBe(first);
  const link = await mailedLink(server.mails, "grace@example.com", "accept-invitation");

  await page.goto(link);
  await expect(page.getByText(`You are signed in as ${ACCOUNT.email}`)).toBeVisible();

  const grace = await visitor(browser);
  await grace.goto(link);
  await expect(grace.getByText("There is an account for grace@example.com already")).toBeVisible();
  await grace.getByRole("link", { name: "Sign in to accept" }).click();
  await signIn(grace, "grace@example.com", "nanoseconds");
  await expect(grace.getByRole("heading", { level: 1 })).toHaveText("Join Navy");
  await grace.getByRole("button", { name: "Accept as Grace" }).click();
  await expect(grace.getByText("You have joined")).toBeVisible();
  const bundle: Bundle = await (await grace.request.get(`${shop.url}/api/me/login-bundle`)).json();
  expect(bundle.organizations.find((one) => one.name === "Navy")?.role).toBe("admin");
  await grace.context().close();
});

test("the mailed link resets a forgotten password, once; every session ends", async ({
  page,
  shop,
  server,
  browser,
}) => {
  await invite(page, shop, "barbara@example.com");
  const invitation = await mailedLink(server.mails, "barbara@example.com", "accept-invitation");
  const token = linkToken(invitation);
  const before = await call<{ token: string }>(shop, "POST", `/api/invitations/${token}/accept`, {
    name: "Barbara",
    password: "substitution",
  });
  const barbara = await visitor(browser);
  await barbara.goto(`${shop.url}/login`);
  await barbara.getByRole("link", { name: "Forgot your password?" }).click();
  // The sign-in page has a field of this name too.
  await expect(barbara.getByRole("heading", { level: 1 })).toHaveText("Forgot your password?");
  await barbara.getByLabel("E-mail").fill("barbara@example.com");
  await barbara.getByRole("button", { name: "Send the link" }).click();
  await expect(barbara.getByRole("heading", { level: 1 })).toHaveText("Look into your mailbox");
  const link = await mailedLink(server.mails, "barbara@example.com", "reset-password");
  await barbara.goto(link);
  await expect(barbara.getByText("barbara@example.com")).toBeVisible();
  await barbara.getByLabel("New password").fill("principle of substitution");
  expect(await serious(barbara)).toEqual([]);
  await barbara.getByRole("button", { name: "Set the password" }).click();
  await expect(barbara.getByRole("heading", { level: 1 })).toHaveText("Your new password is set");
  await expect(call(shop, "GET", "/api/me/login-bundle", undefined, before.token)).rejects.toThrow("401");
  await barbara.goto(link);
  await expect(barbara.getByRole("heading", { level: 1 })).toHaveText("This link does not work any more");
  await barbara.goto(`${shop.url}/login`);
  await signIn(barbara, "barbara@example.com", "substitution");
  await expect(barbara.getByRole("alert")).toContainText("wrong");
  await signIn(barbara, "barbara@example.com", "principle of substitution");
  await expect(barbara.getByRole("heading", { level: 1 })).toHaveText("Overview");
  await barbara.context().close();
});
