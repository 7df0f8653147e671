// Services and environments of the top bar: every page shows the records of the selected ones only.
import { serious } from "./support/axe.ts";
import { expect, type Shop, test } from "./support/fixtures.ts";
import { wider } from "./support/layout.ts";
import { newProject, shared } from "./support/project.ts";

const SENDERS = [
  ["depot", "production"],
  ["depot", "staging"],
  ["ledger", "production"],
  ["ledger", "staging"],
] as const;
const marker = (service: string, environment: string) => `${service}-${environment}`;
const text = (key: string, value: string) => ({ key, value: { stringValue: value } });

/** Sends every signal of every sender, named after it, to a project of its own. */
async function ownProject(shop: Shop): Promise<string> {
  const made = await newProject(shop, "filters");
  const nanos = (ms: number) => String(BigInt(Date.now() - 60_000 + ms) * 1_000_000n);
  const post = async (signal: string, body: unknown) => {
    const answer = await fetch(`${shop.url}/api/otel/v1/${signal}`, {
      method: "POST",
      headers: { authorization: `Bearer ${made.token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(answer.ok, await answer.text()).toBe(true);
  };
  for (const [index, [service, environment]] of SENDERS.entries()) {
    const name = marker(service, environment);
    const resource = {
      attributes: [text("service.name", service), text("deployment.environment.name", environment)],
    };
    const span = (number: number, kind: number, title: string, attributes: object[], events: object[] = []) => ({
      traceId: `${index + 1}${number}`.padStart(32, "a"),
      spanId: `${index + 1}${number}`.padStart(16, "b"),
      name: title,
      kind,
      startTimeUnixNano: nanos(index),
      endTimeUnixNano: nanos(index + 40),
      attributes,
      events,
    });
    const stack = [
      text("exception.type", `Error_${name}`),
      text("exception.message", "no"),
      text("exception.stacktrace", `Error_${name}: no\n    at ${service} (app.js:1:2)`),
    ];
    const spans = [
      span(
        1,
        2,
        "GET",
        [text("http.request.method", "GET"), text("http.route", `/${name}`)],
        [{ name: "exception", timeUnixNano: nanos(index + 1), attributes: stack }],
      ),
      span(2, 5, `task ${name}`, []),
      span(3, 3, `chat ${name}`, [text("gen_ai.request.model", "m"), text("gen_ai.operation.name", "chat")]),
    ];
    await post("traces", { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "e2e" }, spans }] }] });
    const body = { stringValue: `${name} happened` };
    const logRecords = [{ timeUnixNano: nanos(index), severityNumber: 17, body }];
    await post("logs", { resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] });
  }
  return made.project;
}

const own = shared(ownProject);

/** The pages that list what was sent. */
const PAGES = ["", "/endpoints", "/tasks", "/ai", "/issues", "/traces", "/traces?all=1", "/logs"];

test("every page has the records of the selected services and environments only", async ({ page, shop }) => {
  const url = `${shop.url}/p/${await own(shop)}`;
  await page.goto(`${url}/endpoints?from=now-1h`);
  await expect(page.getByRole("row", { name: /staging|production/ })).toHaveCount(4);

  // By keyboard: a text, then the value it finds.
  await page.getByRole("button", { name: "Services: All services. Change" }).press("Enter");
  await page.getByRole("searchbox", { name: "Search services" }).fill("dep");
  await expect(page.getByRole("checkbox")).toHaveCount(1);
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("checkbox", { name: "depot" })).toBeFocused();
  expect.soft(await serious(page)).toEqual([]);
  await page.keyboard.press("Space");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "Services: depot. Change" })).toBeFocused();
  await expect(page).toHaveURL(/service=depot/);
  await expect(page.getByRole("row", { name: /staging|production/ })).toHaveCount(2);
  await page.getByRole("button", { name: "Environments: All environments. Change" }).click();
  await page.getByRole("checkbox", { name: "production" }).check();
  await page.keyboard.press("Escape");
  await expect(page).toHaveURL(/env=production/);
  await expect(page.getByRole("row", { name: /staging|production/ })).toHaveCount(1);

  // Links keep both.
  await page.getByRole("link", { name: "Logs", exact: true }).click();
  await expect(page.getByText("depot-production happened").first()).toBeVisible();
  await expect(page).toHaveURL(/service=depot.*env=production|env=production.*service=depot/);

  for (const path of PAGES) {
    const mark = path.includes("?") ? "&" : "?";
    await page.goto(`${url}${path}${mark}from=now-1h&service=depot&env=production`);
    await expect(page.getByRole("main")).toContainText("depot-production");
    await expect(page.getByRole("main")).not.toContainText(/depot-staging|ledger-(production|staging)/);
  }
  await page.goto(`${url}/endpoints?from=now-1h&service=depot,ledger&env=staging`);
  await expect(page.getByRole("row", { name: /staging/ })).toHaveCount(2);
  await expect(page.getByRole("row", { name: /production/ })).toHaveCount(0);
  await page.goto(`${url}/endpoints?from=now-1h&service=nobody`);
  await page.getByRole("button", { name: "Clear search and filters" }).click();
  await expect(page.getByRole("row", { name: /staging|production/ })).toHaveCount(4);
});

test("the controls fit a desktop and a phone, light and dark", async ({ page, shop }) => {
  const project = await own(shop);
  await page.goto(`${shop.url}/p/${project}/endpoints?from=now-1h&service=depot,ledger&env=production`);
  await expect(page.getByText("GET /ledger-production").first()).toBeVisible();
  for (const width of [1440, 768, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await expect(page.getByRole("button", { name: "Services: depot +1 (depot, ledger). Change" })).toBeVisible();
    await expect(page.getByRole("button", { name: "Environments: production. Change" })).toBeVisible();
    await page.getByRole("button", { name: /^Services/ }).click();
    await expect(page.getByRole("checkbox", { name: "ledger" })).toBeChecked();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect.soft(await serious(page, { colours: colorScheme === "dark" }), `${width} ${colorScheme}`).toEqual([]);
    }
    expect(await wider(page), `${width}`).toEqual([]);
    await page.keyboard.press("Escape");
    await expect(page.getByRole("checkbox")).toHaveCount(0);
  }
});
