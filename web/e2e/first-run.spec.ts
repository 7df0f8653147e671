// A new server: registration through the UI, the first span, and refused requests.
import type { Page } from "@playwright/test";
import { snippets } from "../src/model/snippets.ts";
import { serious } from "./support/axe.ts";
import { expect, test } from "./support/base.ts";
import { fits } from "./support/layout.ts";
import { post, resourceSpans } from "./support/otlp.ts";
import { startServer } from "./support/server.ts";

test("a new user registers, sends a first span and opens its trace", async ({ page }) => {
  const server = await startServer();
  try {
    await page.goto(server.url);
    await expect(page).toHaveURL(/\/setup$/);
    expect(await serious(page)).toEqual([]);
    await register(page);

    await expect(page).toHaveURL(/\/connect$/);
    await expect(page.getByText("Waiting for the first span…")).toBeVisible();
    expect(await serious(page)).toEqual([]);
    await page.getByRole("button", { name: "Show the project token" }).click();
    const token = (await page.locator("code", { hasText: /^[0-9a-f]{32}$/ }).textContent()) ?? "";
    expect(token).toMatch(/^[0-9a-f]{32}$/);

    const spans = [
      {
        id: "00f067aa0ba902b7",
        name: "GET /hello",
        kind: 2,
        at: 0,
        ms: 120,
        service: "hello",
        attributes: { "http.request.method": "GET", "http.route": "/hello", "http.response.status_code": 200 },
      },
    ];
    const body = { resourceSpans: resourceSpans("0af7651916cd43dd8448eb211c80319c", Date.now() - 1000, spans) };
    expect((await post(server.url, "0".repeat(32), "traces", body)).status).toBe(401);
    expect((await post(server.url, token, "traces", body)).status).toBe(200);

    await expect(page.getByText(/Got 1 span in the last hour/)).toBeVisible();
    await expect(page.getByText("GET /hello", { exact: true })).toBeVisible();
    await page.getByRole("link", { name: "Open trace" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("GET /hello");
    await expect(page.getByRole("treegrid")).toContainText("hello");

    // Sign out and in again.
    await page.getByRole("button", { name: "Account and theme" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await expect(page).toHaveURL(/\/login/);
    await page.getByLabel("E-mail").fill("ada@example.com");
    await page.getByLabel("Password").fill("wrong password");
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("alert")).toContainText("wrong");
    await page.getByLabel("Password").fill("correct horse");
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Overview");
    await expect(page.getByRole("table", { name: "Worst endpoints" })).toContainText("GET /hello");
  } finally {
    await server.stop();
  }
});

test("every language's snippet can be copied with the address and the token, and the test trace arrives", async ({
  page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const server = await startServer();
  try {
    await page.goto(`${server.url}/register`);
    await register(page);
    const languages = page.getByRole("navigation", { name: "Language" }).getByRole("link");
    const shown = snippets(`${server.url}/api/otel`, await projectToken(page));
    await expect(languages).toHaveText(shown.map((one) => one.label));
    for (const { label, steps, check } of shown) {
      const language = languages.filter({ hasText: new RegExp(`^${escaped(label)}$`) });
      await language.focus();
      await page.keyboard.press("Enter");
      await expect(language).toHaveAttribute("aria-current", "page");
      const parts = [
        ...steps,
        ...(check ? [{ title: "Send a request, in a second terminal", code: check.request }] : []),
      ];
      await expect(page.getByRole("button", { name: /^Copy: / })).toHaveCount(parts.length);
      for (const [place, { title, code }] of parts.entries()) {
        const name = `Copy: ${parts.length > 1 ? `${place + 1}. ` : ""}${title}`;
        await page.getByRole("button", { name, exact: true }).click();
        const copied = () => page.evaluate(() => navigator.clipboard.readText());
        await expect.poll(copied, `${label}: ${title}`).toBe(code);
      }
    }
    // An SDK that speaks both protocols.
    await languages.filter({ hasText: /^Python$/ }).click();
    const protocols = page.getByRole("navigation", { name: "Protocol" }).getByRole("link");
    await expect(protocols).toHaveText(["OTLP/HTTP", "OTLP/gRPC"]);
    await expect(protocols.first()).toHaveAttribute("aria-current", "page");
    await protocols.last().click();
    await expect(protocols.last()).toHaveAttribute("aria-current", "page");
    await page.getByRole("button", { name: "Copy: 3. Run with these settings" }).click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain(`OTEL_EXPORTER_OTLP_ENDPOINT=${server.url}\nexport`);
    expect(copied).toContain("OTEL_EXPORTER_OTLP_PROTOCOL=grpc");
    // On a phone the groups wrap and the page does not overflow.
    await page.setViewportSize({ width: 390, height: 844 });
    const mobile = shown.filter((one) => one.group === "Frontend & mobile").map((one) => one.label);
    await expect(page.getByRole("list", { name: "Frontend & mobile" }).getByRole("link")).toHaveText(mobile);
    await fits(page);
    expect(await serious(page)).toEqual([]);
    await page.getByRole("button", { name: "Send a test trace" }).click();
    await expect(page.getByText(/Got 3 spans/)).toBeVisible();
  } finally {
    await server.stop();
  }
});

test("without a mail server, links are passed on by hand", async ({ page, context, browser }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const server = await startServer("127.0.0.1", "off", { MAIL_DIR: undefined });
  try {
    await page.goto(`${server.url}/register`);
    await register(page);
    await expect(page).toHaveURL(/\/connect$/);

    await page.goto(`${server.url}/organization?tab=invitations`);
    await page.getByLabel("E-mail").fill("grace@example.com");
    await page.getByRole("button", { name: "Invite" }).click();
    const link = page.getByRole("status").filter({ hasText: "grace@example.com" });
    await expect(link).toContainText("no mail server");
    const copied = async () => {
      await page.getByRole("button", { name: "Copy the link for grace@example.com" }).click();
      return await page.evaluate(() => navigator.clipboard.readText());
    };
    const first = await copied();
    expect(first).toContain(`${server.url}/accept-invitation#token=`);
    await page.getByRole("button", { name: "New link for grace@example.com" }).click();
    await expect(link).toContainText("Earlier links have ended");
    const second = await copied();
    expect(second).not.toBe(first);
    expect(await serious(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    await fits(page);

    const grace = await (await browser.newContext()).newPage();
    await grace.goto(first);
    await expect(grace.getByRole("heading", { level: 1 })).toHaveText("No such invitation");
    await grace.goto("about:blank");
    await grace.goto(second);
    await grace.getByLabel("Your name").fill("Grace");
    await grace.getByLabel("Password").fill("nanoseconds");
    await grace.getByRole("button", { name: "Create account and join" }).click();
    await expect(grace.getByRole("heading", { level: 1 })).toHaveText("Overview");
    await grace.context().close();

    const forgetful = await (await browser.newContext()).newPage();
    await forgetful.goto(`${server.url}/forgot-password`);
    await forgetful.getByLabel("E-mail").fill("grace@example.com");
    await forgetful.getByRole("button", { name: "Send the link" }).click();
    await expect(forgetful.getByRole("heading", { level: 1 })).toHaveText("This server cannot send mails");
    await expect(forgetful.getByText("tidewatch admin reset-password")).toBeVisible();
    expect(await serious(forgetful)).toEqual([]);
    await forgetful.setViewportSize({ width: 390, height: 844 });
    await fits(forgetful);
    await forgetful.context().close();
  } finally {
    await server.stop();
  }
});

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Fills the form of the first account and project. */
async function register(page: Page): Promise<void> {
  for (const [label, text] of [
    ["Your name", "Ada Byron"],
    ["E-mail", "ada@example.com"],
    ["Password", "correct horse"],
    ["Organization", "Acme"],
    ["First project", "shop"],
  ])
    await page.getByLabel(label).fill(text);
  await page.getByRole("button", { name: "Create account and project" }).click();
}

async function projectToken(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Show the project token" }).click();
  return (await page.locator("code", { hasText: /^[0-9a-f]{32}$/ }).textContent()) ?? "";
}
