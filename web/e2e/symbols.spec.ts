// Symbols: missing files and their upload commands, an upload, a test resolution, and the issue resolved and raw.
import { serious } from "./support/axe.ts";
import { at, expect, type Shop, test } from "./support/fixtures.ts";
import { look } from "./support/layout.ts";
import { mustPost } from "./support/otlp.ts";
import { openIssue, uploadMap } from "./support/symbols.ts";

const STACK = "TypeError: cart is empty\n    at t (https://shop.example/assets/app.min.js?v=3:2:5)";
const MAP = '{"version":3,"sources":["cart.ts"],"names":[],"mappings":"AAAA;EAEE"}';
const ID = "4c4c44dd55553144a1e29109d2cd8082";
const IOS = `*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***
os: ios arch: arm64
#00 ${ID} 0x41cc AcmeApp
#01 ${ID} 0x4648 AcmeApp`;

/** Sends an app's exception, as its SDK does. */
async function report(shop: Shop, language: string, type: string, stack: string): Promise<void> {
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const nanos = `${Date.now()}000000`;
  const attributes = [text("exception.type", type), text("exception.stacktrace", stack)];
  const span = {
    traceId: crypto.randomUUID().replaceAll("-", ""),
    spanId: crypto.randomUUID().replaceAll("-", "").slice(0, 16),
    parentSpanId: "cd".repeat(8),
    name: "checkout",
    kind: 1,
    startTimeUnixNano: nanos,
    endTimeUnixNano: nanos,
    events: [{ name: "exception", timeUnixNano: nanos, attributes }],
  };
  const resource = { attributes: [text("telemetry.sdk.language", language), text("service.name", "app")] };
  await mustPost(shop.url, shop.token, "traces", { resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] });
}

test("without uploads the page explains them, and a raw issue names its debug file", async ({ page, shop }) => {
  await page.goto(at(shop, "/settings"));
  await page.getByRole("navigation", { name: "Parts of the settings" }).getByRole("link", { name: "Symbols" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Symbols");
  await expect(page.getByText("Nothing is uploaded yet")).toBeVisible();
  await expect(page.getByText("No stack trace has asked for a file")).toBeVisible();
  const platforms = page.getByRole("navigation", { name: "Platform" });
  await platforms.getByRole("link", { name: "Android" }).click();
  await expect(page).toHaveURL(/how=android/);
  await expect(page.locator("pre", { hasText: "proguard_uuid=$UUID" })).toBeVisible();
  await look(page, "symbols-empty");

  await report(shop, "swift", "AcmeCrash", IOS);
  await openIssue(page, shop, "AcmeCrash");
  const hint = page.getByRole("complementary", { name: "Missing symbols" });
  await expect(hint).toContainText("This stack trace waits for symbols.");
  await expect(hint).toContainText("Debug file of AcmeApp");
  await expect(hint).toContainText("4C4C44DD-5555-3144-A1E2-9109D2CD8082");
  await expect(hint.locator("pre")).toContainText("files=@AcmeApp.app.dSYM/Contents/Resources/DWARF/AcmeApp");
  await expect(hint.locator("pre")).toContainText(`${new URL(shop.url).origin}/api/symbols/upload`);
  await look(page, "issue-missing");
  await hint.getByRole("link", { name: "All symbols of the project" }).click();
  await expect(page.getByRole("list", { name: "Missing symbols" })).toContainText(ID);
});

test("an upload resolves subsequent events; earlier events are resolved when opened", async ({ page, shop }) => {
  await report(shop, "webjs", "CartError", STACK);
  await openIssue(page, shop, "CartError");
  const hint = page.getByRole("complementary", { name: "Missing symbols" });
  await expect(hint).toContainText("Source map of app.min.js");
  await expect(hint.locator("pre")).toContainText('-F "files=@dist/app.min.js.map"');

  // Mocks recently uploaded symbols: the server resolves stored traces in the background, some time after an upload.
  const answer = { stackTrace: STACK.replace(/t \(.*\)/, "total (cart.ts:3:3)"), frames: 1, resolved: 1, missing: [] };
  await page.route("**/api/symbols/resolve*", (route) => route.fulfill({ json: answer }));
  await page.reload();
  await expect(page.getByText("Resolved just now, with symbols that were uploaded after the event.")).toBeVisible();
  await expect(page.getByRole("list", { name: "Stack trace" })).toContainText("cart.ts:3:3");
  await expect(hint).toHaveCount(0);
  await page.unroute("**/api/symbols/resolve*");

  await page.goto(at(shop, "/issues"));
  await uploadMap(shop, "assets/app.min.js.map", MAP, STACK);
  await report(shop, "webjs", "LateCartError", STACK);
  await openIssue(page, shop, "LateCartError");
  await expect(page.getByRole("list", { name: "Stack trace" })).toContainText("cart.ts:3:3");
  await expect(page.getByText("Resolved just now")).toHaveCount(0);
  await page.getByRole("button", { name: "Raw" }).click();
  await expect(page).toHaveURL(/raw=1/);
  await expect(page.locator("pre", { hasText: "app.min.js?v=3:2:5" })).toBeVisible();
  await look(page, "issue-raw");
  await page.getByRole("button", { name: "Resolved" }).click();
  await look(page, "issue-resolved");
});

test("files are searched, tested and deleted; the URL holds the filter", async ({ page, shop }) => {
  await uploadMap(shop, "assets/app.min.js.map", MAP, STACK);
  await page.goto(at(shop, "/settings/symbols"));
  const table = page.getByRole("table", { name: "Uploaded symbol files" });
  const row = table.getByRole("row", { name: /app\.min\.js\.map/ });
  await expect(row).toContainText("Source map");
  await expect(row).toContainText("1.42.0");
  // The upload was used by a test resolution before.
  await expect(row).toContainText("by node from 127.0.0.1");
  await expect(row).not.toContainText("never");
  await page.getByRole("searchbox").fill("nothing like this");
  await expect(page.getByText("No file matches")).toBeVisible();
  await expect(page).toHaveURL(/q=nothing/);
  await page.getByRole("link", { name: "Clear the filter" }).click();
  await expect(row).toBeVisible();

  await page.getByLabel("Raw stack trace").fill(`${STACK}\n    at n (https://shop.example/assets/vendor.min.js:1:900)`);
  await page.getByLabel("Language").selectOption("javascript");
  await page.getByRole("button", { name: "Resolve" }).click();
  const result = page.getByRole("region", { name: "Result" });
  await expect(result.getByRole("status").first()).toHaveText("1 of 2 frames resolved.");
  await expect(result.locator("pre", { hasText: "cart.ts:3:3" })).toBeVisible();
  await expect(result.getByRole("list", { name: "Missing symbols" })).toContainText("vendor.min.js");
  await look(page, "symbols");

  await row.getByRole("button", { name: "Delete assets/app.min.js.map, source map" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete this file?" });
  await expect(dialog.getByRole("button", { name: "Cancel" })).toBeFocused();
  expect.soft(await serious(page), "dialog").toEqual([]);
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText("assets/app.min.js.map is deleted")).toBeVisible();
  await expect(page.getByText("Nothing is uploaded yet")).toBeVisible();
});
