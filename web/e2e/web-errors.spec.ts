// A minified web app throws in a browser and reports the exception with the real OpenTelemetry SDK; the issue shows the
// original source.
import type { Browser } from "@playwright/test";
import { expect, type Shop, test } from "./support/fixtures.ts";
import { look } from "./support/layout.ts";
import { openIssue, uploadMap } from "./support/symbols.ts";
import { bundle, serve } from "./support/web-app.ts";

/** Opens the app in a fresh browser context, presses its button, and waits until its SDK has exported. */
async function failIn(browser: Browser, shop: Shop, script: string, name: string): Promise<void> {
  const app = await serve(script, name, { url: shop.url, token: shop.token });
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const exports: { method: string; status: number }[] = [];
    page.on("response", (answer) => {
      if (answer.url().includes("/api/otel/")) {
        exports.push({ method: answer.request().method(), status: answer.status() });
      }
    });
    await page.goto(app.url);
    await page.getByRole("button", { name: "Pay" }).click();
    await expect(page.locator("body")).toHaveAttribute("data-reported", "yes");
    // The origin differs from the server's, so the browser has sent a CORS preflight request.
    expect(exports).toContainEqual({ method: "POST", status: 200 });
  } finally {
    await context.close();
    await app.stop();
  }
}

/** A stack trace of the script with one frame that its map resolves. */
const stackTraceOf = (name: string, script: string) => {
  const at = script.indexOf("the cart is empty");
  const before = script.slice(0, at).split("\n");
  return `Error: x\n    at t (https://shop.example/${name}:${before.length}:${(before.at(-1)?.length ?? 0) + 1})`;
};

test("a web app's error is shown in the source its authors wrote", async ({ page, shop, browser }) => {
  test.setTimeout(240_000);
  const { script, map } = await bundle({ sourcesContent: true });
  expect(script.split("\n").length, "the bundle is minified").toBeLessThan(50);
  await uploadMap(shop, "shop.min.js.map", map, stackTraceOf("shop.min.js", script), [new Blob([script])]);
  await failIn(browser, shop, script, "shop.min.js");

  await openIssue(page, shop, "EmptyCartError");
  await expect(page.getByText("the cart is empty, in EUR").first()).toBeVisible();
  const trace = page.getByRole("list", { name: "Stack trace" });
  // Function, file, line and column of the sources.
  await expect(trace).toContainText(/totalOf\S*app\/cart\.ts:10:11/);
  await expect(trace).toContainText(/pay\S*app\/checkout\.ts:10:17/);
  // The first in-app frame is open.
  const first = trace.getByRole("button", { name: "Source around totalOf, line 10" });
  await expect(first).toHaveAttribute("aria-expanded", "true");
  const cart = trace.getByRole("region", { name: /Source of \S*app\/cart\.ts, lines 5 to 13/ });
  await expect(cart.locator("[aria-current]")).toContainText("throw new EmptyCartError(`the cart is empty");
  await expect(cart.locator("mark")).toHaveText("new");
  await expect(cart).toContainText("In the currency's own unit. Nobody pays for nothing.");
  await expect(cart).not.toContainText("class EmptyCartError");
  // The others are opened by keyboard.
  const second = trace.getByRole("button", { name: "Source around pay, line 10" });
  await expect(second).toHaveAttribute("aria-expanded", "false");
  await second.focus();
  await page.keyboard.press("Enter");
  const checkout = trace.getByRole("region", { name: /Source of \S*app\/checkout\.ts/ });
  await expect(checkout.locator("[aria-current]")).toContainText("const total = totalOf(cart);");
  await look(page, "issue-sources");
  await second.press("Enter");
  await expect(checkout).toHaveCount(0);
  // The raw trace.
  await page.getByRole("button", { name: "Raw" }).click();
  await expect(page.locator("pre", { hasText: /shop\.min\.js:\d+:\d+/ })).toBeVisible();
});

test("a map without sources yields locations, but no source lines", async ({ page, shop, browser }) => {
  test.setTimeout(240_000);
  const { script, map } = await bundle({ sourcesContent: false });
  await uploadMap(shop, "bare.min.js.map", map, stackTraceOf("bare.min.js", script));
  // A separate issue, with all columns unchanged.
  await failIn(browser, shop, script.replaceAll("EmptyCartError", "PlainCartError"), "bare.min.js");
  await openIssue(page, shop, "PlainCartError");
  const trace = page.getByRole("list", { name: "Stack trace" });
  await expect(trace).toContainText("app/cart.ts:10:11");
  await expect(page.getByRole("button", { name: "Resolved" })).toBeVisible();
  await expect(trace.getByRole("button", { name: /Source around/ })).toHaveCount(0);
});
