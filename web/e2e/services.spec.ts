// The map of services by mouse and keyboard, its tables, and the page of a service: none, one and many services.
import type { Page } from "@playwright/test";
import { serious } from "./support/axe.ts";
import { at, expect, type Shop, test } from "./support/fixtures.ts";
import { fits, look } from "./support/layout.ts";
import { mustPost, resourceSpans, type SpanDraft } from "./support/otlp.ts";
import { newProject } from "./support/project.ts";

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");

/** A project of its own with these traces, a few seconds old. */
async function projectOf(shop: Shop, name: string, traces: SpanDraft[][]): Promise<Shop> {
  const own = await newProject(shop, name);
  const start = Date.now() - 120_000;
  const spans = traces.flatMap((drafts, n) => resourceSpans(hex(0xe50000 + n, 32), start + n * 100, drafts));
  if (spans.length) await mustPost(own.url, own.token, "traces", { resourceSpans: spans });
  return own;
}

/** web calls cart, cart a database and a queue, mail receives, and cart calls a host outside. Every fourth call fails. */
function order(n: number): SpanDraft[] {
  const id = (of: number) => hex(0xe5000000 + n * 16 + of, 16);
  const span = (of: number, parent: number, rest: Omit<SpanDraft, "id" | "parent" | "at">): SpanDraft => ({
    id: id(of),
    parent: parent ? id(parent) : undefined,
    at: of,
    ...rest,
  });
  const http = { "http.request.method": "GET" };
  const error = n % 4 === 0;
  const [kafka, shop] = [{ "messaging.system": "kafka", "messaging.destination.name": "orders" }, "postgresql"];
  return [
    span(1, 0, { name: "GET /", kind: 2, ms: 60, service: "web", attributes: { ...http, "http.route": "/" } }),
    span(2, 1, {
      name: "GET",
      kind: 3,
      ms: 40,
      service: "web",
      error,
      attributes: { ...http, "server.address": "cart.internal", "server.port": 8080 },
    }),
    span(3, 2, {
      name: "GET /cart",
      kind: 2,
      ms: 30,
      service: "cart",
      error,
      attributes: { ...http, "http.route": "/cart", "http.response.status_code": error ? 500 : 200 },
    }),
    span(4, 3, {
      name: "SELECT",
      kind: 3,
      ms: 8,
      service: "cart",
      attributes: { "db.system.name": shop, "db.namespace": "shop" },
    }),
    span(5, 3, { name: "send", kind: 4, ms: 2, service: "cart", attributes: kafka }),
    span(6, 5, { name: "process", kind: 5, ms: 12, service: "mail", attributes: kafka }),
    span(7, 3, {
      name: "POST",
      kind: 3,
      ms: 9,
      service: "cart",
      attributes: { "url.full": "https://api.stripe.com/v1/charges" },
    }),
  ];
}

const heading = (page: Page, name: string) => page.getByRole("heading", { name, level: 1 });

test("the map leads to services and traces; its tables are sorted and hold the same", async ({ page, shop }) => {
  const project = await projectOf(
    shop,
    "map",
    Array.from({ length: 12 }, (_, n) => order(n)),
  );
  await page.goto(at(project, "/?from=now-1h"));
  await expect(heading(page, "Overview")).toBeVisible();
  const strip = page.getByRole("list", { name: "Services" });
  await expect(strip.getByRole("listitem")).toHaveCount(3);
  // The failing one is first.
  const first = strip.getByRole("listitem").first();
  await expect(first).toContainText(/^cart.*1\.42\.0.*25 % errors.*p95 30(\.0)? ms/);
  await first.getByRole("link").focus();
  await page.keyboard.press("Enter");
  await expect(heading(page, "cart")).toBeVisible();
  await page.goBack();
  await expect(heading(page, "Overview")).toBeVisible();
  await page.keyboard.press("g");
  await page.keyboard.press("v");
  await expect(heading(page, "Services")).toBeVisible();
  const map = page.getByRole("region", { name: "Map of services" });
  await expect(map.getByRole("link", { name: /^web calls cart 12 times \(.*\), 25 % errors$/ })).toHaveCount(1);
  await expect(map.getByRole("link", { name: /^cart calls postgresql shop 12 times/ })).toHaveCount(1);
  await expect(map.getByRole("link", { name: /^cart sends to kafka orders 12 times/ })).toHaveCount(1);
  await expect(map.getByRole("link", { name: /^kafka orders delivers to mail 12 times/ })).toHaveCount(1);
  await expect(map.getByRole("link", { name: /^api\.stripe\.com ?\d/ })).toBeVisible();
  expect.soft(await serious(page)).toEqual([]);

  const nodes = page.getByRole("table", { name: "Services and dependencies" });
  await expect(nodes.getByRole("row")).toHaveCount(7);
  await nodes.getByRole("link", { name: "Name" }).click();
  await expect(page).toHaveURL(/sort=name/);
  await expect(nodes.getByRole("row").nth(1)).toContainText("api.stripe.com");
  await page.getByRole("button", { name: /^Calls/ }).click();
  const calls = page.getByRole("table", { name: "Calls" });
  await expect(calls.getByRole("row")).toHaveCount(6);
  await expect(calls.getByRole("row").nth(1)).toContainText("12");

  // By keyboard: the region scrolls and zooms, a node opens its page.
  const width = () =>
    map
      .locator("svg")
      .first()
      .evaluate((svg) => svg.getBoundingClientRect().width);
  const before = await width();
  await map.focus();
  await page.keyboard.press("-");
  await expect.poll(width).toBeLessThan(before);
  await page.keyboard.press("0");
  await expect.poll(width).toBe(before);
  await map.getByRole("link", { name: /^cart ?\d/ }).focus();
  await page.keyboard.press("Enter");
  await expect(heading(page, "cart")).toBeVisible();
  await page.goBack();

  // An edge leads to the traces with such calls.
  const edge = await map
    .getByRole("link", { name: /^web calls cart/ })
    .locator("path")
    .first()
    .evaluate((path) => path.getBoundingClientRect().toJSON());
  await page.mouse.click(edge.x + edge.width / 2, edge.y + edge.height / 2);
  await expect(heading(page, "Traces")).toBeVisible();
  await expect(page).toHaveURL(/q=%7Bservice(:|%3A)web%7D/);
});

test("the Overview says that no service was called, and fits a phone", async ({ page, shop }) => {
  const work: SpanDraft = {
    id: hex(0xe5000001, 16),
    at: 0,
    name: "work",
    kind: 1,
    ms: 5,
    service: "quiet",
    attributes: { "console.command": "work" },
  };
  const project = await projectOf(shop, "no calls", [[work]]);
  await page.goto(at(project, "/?from=now-1h"));
  await expect(page.getByText("No service answered a request or a message in this time range.")).toBeVisible();

  await page.setViewportSize({ width: 390, height: 800 });
  const phone = await projectOf(shop, "calls on a phone", [order(1)]);
  await page.goto(at(phone, "/?from=now-1h"));
  await expect(page.getByRole("list", { name: "Services" }).getByRole("listitem")).toHaveCount(3);
  await fits(page);
  expect.soft(await serious(page)).toEqual([]);
});

test("the page of a service has its calls, neighbours, versions, instances and endpoints", async ({ page, shop }) => {
  const project = await projectOf(
    shop,
    "service page",
    Array.from({ length: 8 }, (_, n) => order(n)),
  );
  await page.goto(at(project, "/services/cart?from=now-1h"));
  await expect(heading(page, "cart")).toBeVisible();
  for (const chart of ["Calls served", "Error rate", "Duration"])
    await expect(page.getByRole("figure", { name: chart })).toBeVisible();
  await expect(page.getByRole("table", { name: "Callers" }).getByRole("row").nth(1)).toContainText("web");
  await expect(page.getByRole("table", { name: "Dependencies" }).getByRole("row")).toHaveCount(4);
  await expect(page.getByRole("table", { name: "Versions" })).toContainText("1.42.0");
  await expect(page.getByRole("table", { name: "Instances" })).toContainText("cart-1");
  await expect(page.getByRole("table", { name: "Endpoints" })).toContainText("GET /cart");
  expect.soft(await serious(page)).toEqual([]);
  await page
    .getByRole("region", { name: "Neighbours of cart" })
    .getByRole("link", { name: /^web ?\d/ })
    .click();
  await expect(heading(page, "web")).toBeVisible();
  await page.getByRole("link", { name: "Logs", exact: true }).last().click();
  await expect(page).toHaveURL(/logs\?.*service=web/);
});

test("no services, and one that calls nobody", async ({ page, shop }) => {
  const empty = await projectOf(shop, "no services", []);
  await page.goto(at(empty, "/services"));
  await expect(page.getByText("A service is on the map when it sends spans", { exact: false })).toBeVisible();
  expect.soft(await serious(page)).toEqual([]);

  const alone: SpanDraft = { id: hex(0xe7, 16), name: "GET /", kind: 2, at: 0, ms: 5, service: "alone" };
  const one = await projectOf(shop, "one service", [[{ ...alone, attributes: { "http.route": "/" } }]]);
  await page.goto(at(one, "/services?from=now-1h"));
  const map = page.getByRole("region", { name: "Map of services" });
  await expect(map.getByRole("link")).toHaveCount(1);
  await page.getByRole("button", { name: "Calls (0)" }).click();
  await expect(page.getByText("No service calls another one", { exact: false })).toBeVisible();
  await map.getByRole("link", { name: /^alone ?\d/ }).click();
  await expect(heading(page, "alone")).toBeVisible();
  await expect(page.getByText("No service with spans in this project calls it.")).toBeVisible();
  await expect(page.getByText("It calls no database, queue, host or other service.")).toBeVisible();
});

test("sixty services on desktop and phone, light and dark", async ({ page, shop }) => {
  const chains = Array.from({ length: 60 }, (_, n): SpanDraft[] => {
    const id = (of: number) => hex(0xe9000000 + n * 4 + of, 16);
    const address = { "server.address": `service-${(n * 7 + 3) % 60}`, "server.port": 80 };
    const name = `service-${n}`;
    return [
      { id: id(1), name: "GET /", kind: 2, at: 0, ms: 20 + n, service: name, attributes: { "http.route": "/" } },
      { id: id(2), parent: id(1), name: "GET", kind: 3, at: 1, ms: 9, service: name, attributes: address },
      {
        id: id(3),
        parent: id(2),
        name: "GET /",
        kind: 2,
        at: 2,
        ms: 5,
        service: `service-${(n * 7 + 3) % 60}`,
        attributes: { "http.route": "/" },
      },
    ];
  });
  const project = await projectOf(shop, "sixty services", chains);
  for (const path of ["/services/service-3", "/services"]) {
    await page.goto(at(project, `${path}?from=now-1h`));
    await expect(page.getByRole("region", { name: /Map of services|Neighbours/ })).toBeVisible();
    await look(page, path.slice(1).replace("/", "-"));
  }
  await expect(page.getByRole("table", { name: "Services and dependencies" }).getByRole("row")).toHaveCount(61);
});
