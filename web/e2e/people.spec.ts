// Account pages against the real server, each visited once.
import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { serious } from "./support/axe.ts";
import { call } from "./support/call.ts";
import { ACCOUNT, expect, randomAddress, type Shop, test, visitor } from "./support/fixtures.ts";

const FORM = { "content-type": "application/x-www-form-urlencoded" };

async function signIn(page: Page, shop: Shop, email: string, password: string): Promise<void> {
  await page.goto(`${shop.url}/login`);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

const organization = async (shop: Shop) =>
  (await call<{ organizations: { id: number }[] }>(shop, "GET", "/api/me/login-bundle")).organizations[0].id;

/** RFC 6238, SHA-1, six digits, 30 seconds. */
async function totp(secret: string): Promise<string> {
  const { createHmac } = await import("node:crypto");
  let bits = "";
  for (const char of secret.replace(/[=\s]/g, "").toUpperCase())
    bits += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(char).toString(2).padStart(5, "0");
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const hash = createHmac("sha1", key).update(step).digest();
  const at = hash[19] & 15;
  return String((hash.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

test("profile: name, theme and time zone follow the account", async ({ page, shop }) => {
  await page.goto(`${shop.url}/account`);
  await page.getByLabel("Name").fill("Ada King");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Name saved")).toBeVisible();
  await page.getByLabel("Time zone").selectOption("Asia/Tokyo");
  await expect(page.getByText("Time zone saved")).toBeVisible();
  await page.getByRole("button", { name: "Dark" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await expect(page.getByText("Theme saved")).toBeVisible();
  await page.evaluate(() => localStorage.removeItem("tidewatch.theme"));
  await page.reload();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await expect(page.getByText(/Asia\/Tokyo\) now/)).toBeVisible();
  await page.getByRole("button", { name: "As the system" }).click();
  await page.getByLabel("Time zone").selectOption("");
  await expect(page.getByText(/\(UTC\) now/)).toBeVisible();
  await page.getByLabel("Name").fill(ACCOUNT.name);
  await page.getByRole("button", { name: "Save" }).click();
  const name = async () => (await call<{ user: { name: string } }>(shop, "GET", "/api/me/login-bundle")).user.name;
  await expect.poll(name).toBe(ACCOUNT.name);
});

test("access tokens: shown once, used, listed, revoked", async ({ page, shop }) => {
  await page.goto(`${shop.url}/account?tab=tokens`);
  await page.getByLabel("Name").fill("ci");
  await page.getByRole("button", { name: "Make a token" }).click();
  const token = (await page.locator("[data-secret]").textContent()) ?? "";
  expect(token).toMatch(/^twp_/);
  expect((await call<unknown[]>(shop, "GET", "/api/projects", undefined, token)).length).toBeGreaterThan(0);
  await page.reload();
  await expect(page.getByRole("table", { name: "Access tokens" })).toContainText("ci");
  await expect(page.getByText(token)).toHaveCount(0);
  await page.getByRole("button", { name: "Revoke the token ci" }).click();
  await page.getByRole("button", { name: "Revoke the token", exact: true }).click();
  await expect(page.getByText("No tokens yet")).toBeVisible();
  await expect(call(shop, "GET", "/api/projects", undefined, token)).rejects.toThrow("401");
});

test("organization: settings, an invitation made and revoked, its audit log", async ({ page, shop }) => {
  await page.goto(`${shop.url}/organization?tab=invitations`);
  await page.getByLabel("E-mail").fill("edsger@example.com");
  await page.getByLabel("Role").selectOption("readonly");
  await page.getByRole("button", { name: "Invite" }).click();
  const open = page.getByRole("table", { name: "Pending invitations" });
  await expect(open).toContainText("edsger@example.com");
  await page.getByRole("button", { name: "Take back the invitation of edsger@example.com" }).click();
  await expect(page.getByText("No open invitations")).toBeVisible();
  await page.getByRole("link", { name: "Audit log" }).click();
  const log = page.getByRole("table", { name: "Audit log" });
  await expect(log).toContainText("edsger@example.com");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV" }).click();
  expect(await readFile(await (await download).path(), "utf8")).toContain("edsger@example.com");
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByLabel("Name").fill("Acme Ltd");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Acme Ltd");
  await page.getByRole("link", { name: "Single sign-on" }).click();
  await expect(page.getByText("Ways to sign in")).toBeVisible();
});

test("device: the code is typed, the request named and approved, and can be signed out", async ({ page, shop }) => {
  const start = await fetch(`${shop.url}/api/auth/device/authorize`, {
    method: "POST",
    headers: FORM,
    body: "client_id=traceway-cli",
  });
  const { device_code, user_code } = (await start.json()) as { device_code: string; user_code: string };
  await page.goto(`${shop.url}/device`);
  await page.getByLabel("Code").pressSequentially(user_code.replace("-", "").toLowerCase());
  await page.keyboard.press("Enter");
  await expect(page.getByText(user_code)).toBeVisible();
  await expect(page.getByText(/ from 127\.0\.0\.1 to act as/)).toBeVisible();
  expect(await serious(page)).toEqual([]);
  await page.getByRole("button", { name: "Approve" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("The device is signed in");
  const tokens = await fetch(`${shop.url}/api/auth/device/token`, {
    method: "POST",
    headers: FORM,
    body: new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code }),
  });
  expect(tokens.status).toBe(200);
  await page.getByRole("link", { name: "Signed-in applications" }).click();
  const table = page.getByRole("table", { name: "Signed-in applications" });
  await table
    .getByRole("button", { name: /^Sign out/ })
    .first()
    .click();
  await page.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByText(/is signed out/)).toBeVisible();
});

test("an unknown device code is reported as unknown", async ({ page, shop, problems }) => {
  // The code in a link is ignored, because the sender of the link may have chosen it.
  await page.goto(`${shop.url}/device?user_code=ZZZZ-ZZZZ`);
  await expect(page.getByLabel("Code")).toHaveValue("");
  await page.getByLabel("Code").pressSequentially("ZZZZZZZZ");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("No such code");
  problems.length = 0;
});

test("consent: client and address are shown; the response goes to the client; invalid requests are explained", async ({
  page,
  shop,
  problems,
}) => {
  const redirect = "http://127.0.0.1:7777/cb";
  const made = await fetch(`${shop.url}/api/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: "Assistant", redirect_uris: [redirect], token_endpoint_auth_method: "none" }),
  });
  const { client_id } = (await made.json()) as { client_id: string };
  const consentUrl = (change: Record<string, string> = {}) =>
    `${shop.url}/oauth/authorize?${new URLSearchParams({
      response_type: "code",
      client_id,
      redirect_uri: redirect,
      code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
      code_challenge_method: "S256",
      state: "a b&c",
      ...change,
    })}`;
  await page.route(`${redirect}**`, (route) => route.fulfill({ body: "the client" }));
  for (const which of ["Allow", "Deny"]) {
    await page.goto(consentUrl());
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Allow 127.0.0.1:7777 on this computer?");
    await expect(page.getByText("which calls itself Assistant")).toBeVisible();
    const back = page.waitForRequest((request) => request.url().startsWith(redirect));
    await page.getByRole("button", { name: which }).click();
    const search = new URL((await back).url()).searchParams;
    expect(search.get("state")).toBe("a b&c");
    expect(search.get(which === "Allow" ? "code" : "error")).toMatch(which === "Allow" ? /^twa_/ : /^access_denied$/);
  }
  const bad: Record<string, string>[] = [
    { redirect_uri: "https://evil.example/cb" },
    { client_id: "nobody" },
    { code_challenge_method: "plain" },
    { response_type: "token" },
  ];
  for (const change of bad) {
    await page.goto(consentUrl(change));
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("This request cannot be allowed");
  }
  problems.length = 0;
});

test("project settings: framework, health checks, retention, sampling, rotation with grace, deletion by name", async ({
  page,
  shop,
}) => {
  const made = await call<{ id: string; token: string }>(shop, "POST", `/api/projects?projectId=${shop.project}`, {
    name: "doomed",
    framework: "opentelemetry",
  });
  await page.goto(`${shop.url}/p/${made.id}/settings`);
  await page.getByLabel("What sends the data").selectOption("django");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByLabel("Paths of your own").fill("/own/probe\n/ready/*");
  await page.getByRole("button", { name: "Save paths" }).click();
  await expect(page.getByText("Paths saved")).toBeVisible();
  const leaveOut = page.getByRole("switch", { name: "Leave out health checks that went well" });
  await leaveOut.click();
  await expect(page.getByText("Healthy health checks are left out from now on")).toBeVisible();
  await page.getByLabel("Normal traces kept, %").fill("12.5");
  await page.getByRole("button", { name: "Save sampling" }).click();
  await expect(page.getByText("Sampling saved")).toBeVisible();
  await page.getByLabel("Days", { exact: true }).fill("4000");
  await expect(page.getByText("Whole days, 1 to 3650")).toBeVisible();
  await page.getByLabel("Days", { exact: true }).fill("7");
  await page.getByRole("button", { name: "Save retention" }).click();
  await expect(page.getByText("Kept for 7 days from now on")).toBeVisible();
  await page.reload();
  await expect(page.getByLabel("What sends the data")).toHaveValue("django");
  await expect(page.getByLabel("Days", { exact: true })).toHaveValue("7");
  await expect(page.getByLabel("Paths of your own")).toHaveValue("/own/probe\n/ready/*");
  await expect(leaveOut).toBeChecked();
  await expect(page.getByLabel("Normal traces kept, %")).toHaveValue("12.5");
  await page.getByRole("button", { name: "Replace…" }).first().click();
  await page.getByLabel("The old one ends").selectOption("1");
  await page.getByRole("button", { name: "Make a new token" }).click();
  await expect(page.getByText(/The one before works until/)).toBeVisible();
  const now = await call<{ id: string; token: string }[]>(shop, "GET", "/api/projects");
  expect(now.find((one) => one.id === made.id)?.token).not.toBe(made.token);
  await page.getByRole("button", { name: "Delete the project" }).click();
  await page.getByLabel("Type doomed to go on").fill("doome");
  await expect(page.getByRole("button", { name: "Delete for good" })).toBeDisabled();
  await page.getByLabel("Type doomed to go on").fill("doomed");
  await page.getByRole("button", { name: "Delete for good" }).click();
  await expect(page).toHaveURL(new RegExp(`/p/${shop.project}`));
});

test("second step: set up, required, recovery code, turned off", async ({ page, shop, browser, problems }) => {
  await page.goto(`${shop.url}/account?tab=security`);
  await page.getByRole("button", { name: "Set up an authenticator app" }).click();
  await page.getByLabel("Your password").fill(ACCOUNT.password);
  await page.getByRole("button", { name: "Go on" }).click();
  await expect(page.getByRole("img", { name: /QR code/ })).toBeVisible();
  await page.getByText("Cannot scan?").click();
  const secret = (await page.getByRole("dialog").locator("code").textContent()) ?? "";
  await page.getByLabel("Code from the app").fill(await totp(secret));
  await page.getByRole("button", { name: "Turn on" }).click();
  const codes = page.getByRole("list", { name: "Recovery codes" }).getByRole("listitem");
  await expect(codes).toHaveCount(10);
  const recovery = (await codes.first().textContent()) ?? "";
  expect(await serious(page)).toEqual([]);
  await page.getByRole("switch").click();
  await page.getByRole("button", { name: "Done" }).click();

  const other = await visitor(browser);
  await signIn(other, shop, ACCOUNT.email, ACCOUNT.password);
  await other.getByLabel("Code from your authenticator app").fill("000000");
  await other.getByRole("button", { name: "Go on" }).click();
  await expect(other.getByRole("alert")).toContainText("wrong");
  await other.getByRole("button", { name: "Use a recovery code" }).click();
  await other.getByLabel("Recovery code").fill(recovery);
  await other.getByRole("button", { name: "Go on" }).click();
  await expect(other.getByRole("heading", { level: 1 })).toHaveText("Overview");
  await other.close();

  await page.reload();
  await expect(page.getByText("9 recovery codes left")).toBeVisible();
  await page.getByRole("button", { name: "Turn off" }).click();
  await page.getByLabel("Your password").fill(ACCOUNT.password);
  await page.getByRole("dialog").getByRole("button", { name: "Turn off" }).click();
  await expect(page.getByRole("button", { name: "Set up an authenticator app" })).toBeVisible();
  problems.length = 0;
});

test("invalid links show an error: reset, invitation, provider errors, foreign addresses", async ({
  shop,
  browser,
}) => {
  const page = await visitor(browser);
  for (const [path, title] of [
    ["/reset-password?token=nope", "This link does not work any more"],
    ["/reset-password#token=nope", "This link does not work any more"],
    ["/accept-invitation?token=nope", "No such invitation"],
    ["/auth/callback", "Nothing to sign in with"],
    ["/register", "By invitation only"],
  ]) {
    await page.goto(shop.url + path);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(title);
    // The secret of a link does not stay in the address.
    await expect(page).not.toHaveURL(/token=/);
    expect(await serious(page)).toEqual([]);
  }
  await page.goto(`${shop.url}/login?error=invite_required`);
  await expect(page.getByRole("alert")).toContainText("Ask an owner or admin to invite you");
  await page.goto(`${shop.url}/forgot-password`);
  await page.getByLabel("E-mail").fill("nobody@example.com");
  await page.getByRole("button", { name: "Send the link" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Look into your mailbox");
  await page.goto(`${shop.url}/login?next=//evil.example/`);
  await page.getByLabel("E-mail").fill(ACCOUNT.email);
  await page.getByLabel("Password").fill(ACCOUNT.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Overview");
  expect(page.url()).toContain(shop.url);
  await page.context().close();
});

test("too many wrong passwords: the button counts down", async ({ shop, browser }) => {
  const address = randomAddress();
  const page = await visitor(browser, address);
  await page.goto(`${shop.url}/login`);
  await page.getByLabel("E-mail").fill("nobody@example.com");
  await page.getByLabel("Password").fill("wrong password");
  const guess = () =>
    fetch(`${shop.url}/api/login`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": address },
      body: JSON.stringify({ email: "nobody@example.com", password: "wrong password" }),
    });
  const button = page.getByRole("button", { name: /^(Sign in|Signing in…|Wait )/ });
  // Again if the minute of the limit ends between the guesses and the click.
  await expect(async () => {
    await expect.poll(async () => (await guess()).status, { intervals: [0] }).toBe(429);
    if ((await button.textContent()) === "Sign in") await button.click();
    await expect(button).toHaveText(/^Wait /);
  }).toPass();
  await expect(button).toBeDisabled();
  await expect(page.getByRole("alert")).toContainText("countdown");
  await page.context().close();
});

test("members: the organization's owner is listed and cannot be changed", async ({ page, shop }) => {
  expect(await organization(shop)).toBeGreaterThan(0);
  await page.goto(`${shop.url}/organization`);
  const row = page.getByRole("table", { name: "Members" }).getByRole("row", { name: /ada@example.com/ });
  await expect(row).toContainText("Owner");
  await expect(row.getByRole("combobox")).toHaveCount(0);
  await expect(row.getByRole("button", { name: "Leave" })).toHaveCount(0);
});

test("the security log shows sign-ins, refused ones too; admins see those of their members", async ({ page, shop }) => {
  const login = (password: string) =>
    fetch(`${shop.url}/api/login`, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": "a script", "x-forwarded-for": randomAddress() },
      body: JSON.stringify({ email: ACCOUNT.email, password }),
    });
  expect((await login("a wrong guess")).status).toBe(401);
  expect((await login(ACCOUNT.password)).status).toBe(200);
  for (const path of ["/account?tab=log", "/organization?tab=audit"]) {
    await page.goto(shop.url + path);
    const log = page.getByRole("table");
    await expect(log.getByText("Sign in: refuse").first()).toBeVisible();
    await expect(log.getByText(/Sign in: (success|new device)/).first()).toBeVisible();
    expect(await serious(page)).toEqual([]);
  }
});
