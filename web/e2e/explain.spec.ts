// Why some requests are slow: the heatmap and its explanation, over the real server.
import type { Page } from "@playwright/test";
import { serious } from "./support/axe.ts";
import { at, test as base, expect, type Shop } from "./support/fixtures.ts";
import { look } from "./support/layout.ts";
import { mustPost } from "./support/otlp.ts";
import { newProject, shared } from "./support/project.ts";

const ORDERS = 400;
const attribute = (key: string, value: string) => ({ key, value: { stringValue: value } });

/** A project with orders of the last half hour; those of one tenant are slow, in the database. */
const explainedOf = shared(async (shop) => {
  const own = await newProject(shop, "explained");
  const first = Date.now() - 40 * 60_000;
  const spans = Array.from({ length: ORDERS }, (_, i) => {
    const tenant = ["acme", "globex", "initech", "umbrella"][(i * 7 + (i >> 3)) % 4];
    const ms = 100 + ((i * 37) % 60) + (tenant === "acme" ? 900 : 0);
    const start = first + Math.floor((i * 30 * 60_000) / ORDERS);
    const ids = { traceId: (i + 1).toString(16).padStart(32, "0"), spanId: (i + 1).toString(16).padStart(16, "0") };
    const time = (from: number, length: number) => ({
      startTimeUnixNano: `${from}000000`,
      endTimeUnixNano: `${from + length}000000`,
    });
    return [
      {
        ...ids,
        ...time(start, ms),
        name: "POST",
        kind: 2,
        attributes: [
          attribute("http.request.method", "POST"),
          attribute("http.route", "/orders"),
          attribute("tenant.id", tenant),
          attribute("customer", `<b>${i % 9}</b> مرحبا 🚚`),
        ],
      },
      {
        traceId: ids.traceId,
        spanId: (i + 100_001).toString(16).padStart(16, "0"),
        parentSpanId: ids.spanId,
        ...time(start, Math.floor(ms * 0.9)),
        name: "query",
        kind: 3,
        attributes: [attribute("db.system.name", "postgresql"), attribute("db.operation.name", "SELECT")],
      },
    ];
  }).flat();
  const resource = { attributes: [attribute("service.name", "checkout"), attribute("service.version", "1.42.0")] };
  await mustPost(shop.url, own.token, "traces", {
    resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "http" }, spans }] }],
  });
  return own;
});
const test = base.extend<{ explained: Shop }>({
  explained: async ({ shop }, use) => use(await explainedOf(shop)),
});

const endpoint = (shop: Shop, search = "") => at(shop, `/endpoints/${encodeURIComponent("POST /orders")}${search}`);
const causes = (page: Page) => page.getByRole("list", { name: "Causes" }).getByRole("listitem");

test("one click explains what is slow; a second one filters by the cause", async ({ page, explained }) => {
  await page.goto(endpoint(explained, "?from=now-1h"));
  await page.getByRole("button", { name: "Explain slow" }).click();
  await expect(causes(page).first()).toContainText("tenant.id = acme");
  await expect(page.getByRole("table", { name: "Own time of operations" })).toContainText("SELECT postgresql");
  expect(await serious(page)).toEqual([]);
  await page.getByRole("button", { name: "Exclude tenant.id = acme" }).click();
  await expect(page).toHaveURL(/where=/);
  await expect(causes(page)).toHaveCount(0);
  await page.goBack();
  await expect(causes(page).first()).toContainText("tenant.id = acme");
});

test("a region is selected by keyboard, and the page is the same after a reload", async ({ page, explained }) => {
  await page.goto(endpoint(explained, "?from=now-1h"));
  const cells = page.getByRole("application", { name: /Cells by time/ });
  await cells.focus();
  await page.keyboard.press("ArrowLeft");
  // The first cell is the top right one; the box widens over all time.
  for (let i = 0; i < 130; i++) await page.keyboard.press("Shift+ArrowLeft");
  for (let i = 0; i < 4; i++) await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Enter");
  await expect(causes(page).first()).toContainText("tenant.id = acme");
  await page.reload();
  await expect(causes(page).first()).toContainText("tenant.id = acme");
  await expect(page.locator("[data-selected]")).toBeVisible();
  await page.getByRole("button", { name: "View Latency as table" }).click();
  await expect(page.getByRole("region", { name: "Latency, table" })).toContainText("Duration from");
});

test("all traces have a heatmap", async ({ page, explained }) => {
  await page.goto(at(explained, "/traces?from=now-1h"));
  await page.getByRole("group", { name: "Plot" }).getByRole("button", { name: "Heatmap" }).click();
  await page.getByRole("button", { name: "Explain slow" }).click();
  await expect(causes(page).first()).toContainText("tenant.id = acme");
  expect(await serious(page)).toEqual([]);
});

test("the panel fits a desktop and a phone, light and dark", async ({ page, explained }) => {
  await page.goto(endpoint(explained, "?from=now-1h&explain=slow"));
  await expect(causes(page).first()).toContainText("tenant.id = acme");
  await look(page, "explain");
});
