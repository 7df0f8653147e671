// End-to-end journeys on seeded data, against the real server.
import { at, expect, test } from "./support/fixtures.ts";
import { CHECKOUT, SPAN } from "./support/seed.ts";
import { settled } from "./support/settled.ts";

test("from the overview to the failing span: worst endpoint, slowest request, waterfall, exception", async ({
  page,
  shop,
}) => {
  await page.goto(at(shop));
  await page.getByRole("table", { name: "Worst endpoints" }).getByRole("link", { name: "POST /checkout" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("POST /checkout");
  await expect(page.getByRole("figure", { name: "Duration" })).toBeVisible();
  const first = page.getByRole("table", { name: "Requests" }).getByRole("row").nth(1);
  await expect(first).toContainText("1.24 s");
  await first.getByRole("link").first().click();
  const tree = page.getByRole("treegrid");
  await expect(tree.getByRole("row")).toHaveCount(5);
  await tree.getByRole("link", { name: /POST \/charge/ }).click();
  const drawer = page.getByRole("complementary", { name: "Span POST /charge" });
  await expect(drawer).toContainText("CardDeclined");
  await expect(drawer).toContainText("Non-root");
  await drawer.getByRole("link", { name: "Open the issue" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("CardDeclined");
  await expect(page.getByText("look here first")).toBeVisible();
});

test("an issue: count, owner, folded frames, raw text, next event, tags, archive and undo", async ({ page, shop }) => {
  await page.goto(at(shop, "/issues"));
  const row = page.getByRole("row", { name: /CardDeclined/ });
  await expect(row).toContainText("5");
  await expect(row.getByRole("link", { name: "POST /charge" })).toBeVisible();
  await row.getByRole("link", { name: "CardDeclined", exact: true }).click();
  await expect(page.getByText("Event 1 of 5")).toBeVisible();
  await page.getByRole("button", { name: "2 library frames" }).click();
  await expect(page.getByText("fastapi/routing.py")).toBeVisible();
  await page.getByRole("button", { name: "Raw" }).click();
  await expect(page.locator("pre", { hasText: "Traceback (most recent call last)" })).toBeVisible();
  await page.getByRole("link", { name: "Older event (n)" }).click();
  await expect(page.getByText("Event 2 of 5")).toBeVisible();
  await expect(page).toHaveURL(/event=2/);
  await page.goBack();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Issues");

  await page.getByRole("checkbox", { name: /CardDeclined/ }).check();
  await page.getByRole("toolbar", { name: "Selected issues" }).getByRole("button", { name: "Archive" }).click();
  await expect(page.getByRole("row", { name: /CardDeclined/ })).toHaveCount(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByRole("row", { name: /CardDeclined/ })).toHaveCount(1);
});

test("logs: search, severity, inline details and the link to the trace; the URL holds the state", async ({
  page,
  shop,
}) => {
  await page.goto(at(shop, "/logs"));
  const logs = page.getByRole("table", { name: "Logs" });
  await expect(logs.getByRole("row")).toHaveCount(3);
  await page.getByLabel("Least severity").selectOption("WARN");
  await expect(logs.getByRole("row")).toHaveCount(2);
  await page.getByRole("combobox", { name: "Search logs" }).fill("capture");
  await page.keyboard.press("Enter");
  await expect(logs.getByRole("row")).toHaveCount(1);
  await expect(page).toHaveURL(/level=WARN/);
  await expect(page).toHaveURL(/q=capture/);
  await page.reload();
  await expect(logs.getByRole("row")).toHaveCount(1);
  await logs.getByRole("button", { name: /Show details/ }).click();
  await expect(logs).toContainText("order.id");
  await logs.getByRole("link", { name: /^trace / }).click();
  await expect(page).toHaveURL(new RegExp(`/traces/${CHECKOUT}\\?.*span=${SPAN.charge}`));
});

test("a trace's logs and issues, and a pasted trace id in the palette", async ({ page, shop }) => {
  await page.goto(at(shop));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Overview");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /Jump to/ }).fill(CHECKOUT.toUpperCase());
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("POST /checkout");
  const views = page.getByRole("navigation", { name: "Views of the trace" });
  await views.getByRole("link", { name: "Logs" }).click();
  await expect(page.getByRole("table", { name: "Logs of this trace" }).getByRole("row")).toHaveCount(2);
  await views.getByRole("link", { name: /Issues/ }).click();
  await expect(page.getByRole("link", { name: "CardDeclined" })).toBeVisible();
  await expect(views.getByRole("link", { name: /Issues/ })).toHaveAttribute("aria-current", "page");
});

test("tasks and AI traces: ranking, detail, model, tokens and estimated cost", async ({ page, shop }) => {
  await page.goto(at(shop, "/tasks"));
  await page.getByRole("link", { name: "order.placed process" }).click();
  await expect(page.getByRole("table", { name: "Runs" }).getByRole("row")).toHaveCount(26);
  await page.goto(at(shop, "/ai"));
  const row = page.getByRole("row", { name: /fraud-check/ });
  await expect(row).toContainText("gpt-4o");
  await row.getByRole("link", { name: "fraud-check" }).click();
  await expect(page.getByRole("table", { name: "Calls" })).toBeVisible();
  // What arrives later moves the rows.
  await settled(page);
  await page.getByRole("table", { name: "Calls" }).getByRole("row").nth(1).getByRole("link").first().click();
  await expect(page.getByText("1,240")).toBeVisible();
  await page.getByRole("link", { name: "View in trace" }).click();
  await expect(page.getByRole("complementary", { name: "Span fraud-check" })).toBeVisible();
});

test("endpoints: sort and search are in the URL, Back undoes them", async ({ page, shop }) => {
  await page.goto(at(shop, "/endpoints"));
  const table = page.getByRole("table", { name: /^Endpoints/ });
  await expect(table.getByRole("row")).toHaveCount(5);
  await table.getByRole("link", { name: "Calls" }).click();
  await expect(page).toHaveURL(/sort=-count/);
  await expect(table.getByRole("columnheader", { name: "Calls" }).first()).toHaveAttribute("aria-sort", "descending");
  await page.goBack();
  await expect(page).not.toHaveURL(/sort=/);
  await page.getByRole("combobox", { name: /^Search/ }).fill("nothing like this");
  await page.keyboard.press("Enter");
  await expect(page.getByText("No endpoints match")).toBeVisible();
  await page.getByRole("button", { name: "Clear search and filters" }).click();
  await expect(table.getByRole("row")).toHaveCount(5);
});

test("spans: filters by attribute, service and duration", async ({ page, shop }) => {
  await page.goto(at(shop, "/traces?all=1"));
  await page.getByRole("combobox", { name: "Search spans" }).fill("db.system.name:postgresql");
  await page.keyboard.press("Enter");
  const table = page.getByRole("table", { name: "Spans" });
  await expect(table.getByRole("link", { name: "SELECT cart_items" }).first()).toBeVisible();
  await expect(table.getByRole("link", { name: "POST /checkout" })).toHaveCount(0);
  await page.getByRole("button", { name: /Remove the condition/ }).click();
  await page.getByRole("textbox", { name: "Least duration in milliseconds" }).fill("1200");
  await page.keyboard.press("Enter");
  await expect(table.getByRole("link", { name: "POST /checkout" }).first()).toBeVisible();
  await expect(table.getByRole("link", { name: "GET /products/:slug" })).toHaveCount(0);
});

test("metrics: a chart split by a tag, and the same numbers as a table", async ({ page, shop }) => {
  await page.goto(at(shop, "/metrics?from=now-1h"));
  await page.getByRole("link", { name: /queue\.length/ }).click();
  await page.getByLabel("by").selectOption("queue");
  await expect(page.getByRole("figure", { name: "queue.length" })).toContainText("invoices");
  await page.getByRole("button", { name: "View queue.length as table" }).click();
  await expect(page.getByRole("region", { name: "queue.length, table" })).toContainText("mail");
});

test("settings: keep unmatched roots is saved; a new project is empty and shows how to begin", async ({
  page,
  shop,
}) => {
  await page.goto(at(shop, "/connect"));
  await expect(page.getByText(/1 spans? not stored: root spans/)).toBeVisible();
  await page.getByRole("link", { name: "Keep them" }).click();
  const keep = page.getByRole("switch", { name: "Keep unmatched root spans" });
  await keep.click();
  await expect(page.getByText("Unmatched roots are kept from now on")).toBeVisible();
  await page.reload();
  await expect(keep).toBeChecked();

  await page.getByRole("button", { name: /Switch project/ }).click();
  await page.getByRole("menuitem", { name: "New project…" }).click();
  await page.getByRole("dialog", { name: "New project" }).getByLabel("Name").fill("second");
  await page.getByRole("button", { name: "Create project" }).click();
  await expect(page.getByText("Waiting for the first span…")).toBeVisible();
  await page.keyboard.press("g");
  await page.keyboard.press("o");
  await expect(page.getByText("Nothing has arrived yet")).toBeVisible();
});

test("keyboard only: pages by g, rows by j, Enter, arrows and Escape in the waterfall, help by ?", async ({
  page,
  shop,
}) => {
  await page.goto(at(shop));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Overview");
  await page.keyboard.press("g");
  await page.keyboard.press("e");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Endpoints");
  await expect(page.getByRole("link", { name: "POST /checkout" })).toBeVisible();
  await page.keyboard.press("j");
  await expect(page.locator("[data-row-link]").first()).toBeFocused();
  // Enter shows a summary beside the list, which has a link to the page.
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/sel=/);
  await page.keyboard.press("Tab");
  await page
    .getByRole("complementary", { name: /^Summary/ })
    .getByRole("link", { name: "Open the page" })
    .focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/endpoints\/./);
  await page.goto(at(shop, `/traces/${CHECKOUT}`));
  const tree = page.getByRole("treegrid");
  // A slow trace opens at the worst span of its critical path.
  await expect(page).toHaveURL(new RegExp(`span=${SPAN.fraud}`));
  await expect(tree).toBeFocused();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await expect(page).toHaveURL(new RegExp(`span=${SPAN.cart}`));
  await page.keyboard.press("ArrowLeft");
  await expect(page).toHaveURL(new RegExp(`span=${SPAN.checkout}`));
  await page.keyboard.press("ArrowLeft");
  await expect(tree.getByRole("row")).toHaveCount(1);
  await page.keyboard.press("ArrowRight");
  await expect(tree.getByRole("row")).toHaveCount(5);
  await page.keyboard.press("Escape");
  await expect(page).not.toHaveURL(/span=/);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
});
