// Sessions: scripts cannot read the cookie; sessions are listed and ended; step-up verifies the user again.
import { ACCOUNT, at, enter, expect, test } from "./support/fixtures.ts";

test("scripts cannot read a page's session, and it ends on the server too", async ({ page, shop, problems }) => {
  await page.goto(at(shop));
  await expect(page.getByRole("button", { name: "Account and theme" })).toBeVisible();
  const find = async () => (await page.context().cookies()).find((one) => one.name === "tidewatch_session");
  const cookie = await find();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/" });
  const readable = await page.evaluate(() => document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage }));
  expect(readable).not.toContain(cookie?.value);
  expect(readable).not.toContain("eyJ");

  await page.getByRole("button", { name: "Account and theme" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await expect(page).toHaveURL(/\/login/);
  await expect.poll(find).toBeUndefined();
  const bundle = await page.request.get(`${shop.url}/api/me/login-bundle`, {
    headers: { cookie: `tidewatch_session=${cookie?.value}` },
  });
  expect(bundle.status()).toBe(401);
  problems.length = 0;
});

test("another session is listed with its device and ended", async ({ page, shop, browser }) => {
  const phone = await browser.newContext({
    userAgent:
      "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
  });
  const other = await phone.newPage();
  await enter(other, shop);
  await page.goto(`${shop.url}/account?tab=security`);
  await expect(page.getByText("This one", { exact: true })).toBeVisible();
  await page
    .getByRole("button", { name: /^Sign out Chrome on Android/ })
    .first()
    .click();
  await expect(page.getByText("Chrome on Android is signed out")).toBeVisible();
  await other.goto(at(shop));
  await expect(other).toHaveURL(/\/login/);
  await phone.close();
});

test("an action that needs step-up requests it and continues", async ({ page, shop, problems }) => {
  // Mocks the response five minutes after the sign-in: the server requires step-up.
  let isRefused = false;
  await page.route("**/api/personal-access-tokens", (route) => {
    if (isRefused || route.request().method() !== "POST") return route.fallback();
    isRefused = true;
    return route.fulfill({
      status: 403,
      contentType: "application/json",
      body: '{"error":"confirm that it is you first","code":"step_up_required"}',
    });
  });
  await page.goto(`${shop.url}/account?tab=tokens`);
  await page.getByLabel("Name").fill("from the pages");
  await page.getByRole("button", { name: "Make a token" }).click();
  const dialog = page.getByRole("dialog", { name: "Confirm that it is you" });
  await dialog.getByLabel("Your password").fill("wrong horse");
  await dialog.getByRole("button", { name: "Confirm" }).click();
  await expect(dialog.getByText("That was not right.")).toBeVisible();
  await dialog.getByLabel("Your password").fill(ACCOUNT.password);
  await dialog.getByRole("button", { name: "Confirm" }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByText("from the pages is ready")).toBeVisible();
  await expect(page.getByRole("cell", { name: "Read All projects" })).toBeVisible();
  problems.length = 0;
});

test("a provider's first sign-in to an account verifies the account's owner", async ({ page, shop, problems }) => {
  await page.goto(`${shop.url}/auth/callback#mfaToken=twm_over&methods=password,email&link=Acme`);
  await expect(page.getByRole("heading", { name: "Connect Acme to your account" })).toBeVisible();
  expect(page.url()).not.toContain("twm_over");
  await page.getByLabel("Password of the account").fill(ACCOUNT.password);
  await page.getByRole("button", { name: "Go on" }).click();
  await expect(page.getByRole("alert")).toContainText("the sign-in took longer than ten minutes");
  await page.getByRole("button", { name: "Get a code by e-mail" }).click();
  await page.getByRole("button", { name: "Send the code" }).click();
  await expect(page.getByRole("alert")).toContainText("Start again");
  problems.length = 0;
});
