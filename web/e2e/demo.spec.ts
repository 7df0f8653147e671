// A new server: loading and removing demo data, and the Connect page after the first span.
import type { Page } from "@playwright/test";
import { expect, test } from "./support/base.ts";
import { enter, register, type Shop } from "./support/fixtures.ts";
import { look } from "./support/layout.ts";
import { mustPost, resourceLogs, resourceSpans } from "./support/otlp.ts";
import { startServer } from "./support/server.ts";

const HTTP = { "http.request.method": "GET", "http.route": "/hello", "http.response.status_code": 200 };

/** Signs in. Returns the list of the page's console errors. */
async function signIn(page: Page, account: Shop): Promise<string[]> {
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  await enter(page, account);
  return problems;
}

test("demo data is loaded with one click, marked on its pages, and removed with another", async ({ page }) => {
  test.setTimeout(240_000);
  const server = await startServer();
  try {
    const account = await register(server.url);
    const problems = await signIn(page, account);
    await page.goto(`${server.url}/p/${account.project}/connect`);
    const card = page.getByRole("region", { name: "Demo data" });
    await expect(card.getByRole("button", { name: "Load demo data" })).toBeVisible();
    await look(page, "connect-empty");
    await page.goto(`${server.url}/p/${account.project}`);
    await expect(page.getByText("Nothing has arrived yet")).toBeVisible();
    await look(page, "overview-empty");
    await page.getByRole("button", { name: "Load demo data" }).click();

    // On the pages of the demo project, while it is loading.
    const banner = page.getByRole("region", { name: "Demo data" });
    await expect(banner).toContainText("This is demo data.");
    await expect(page.getByRole("button", { name: "Project: Demo. Switch project" })).toBeVisible();
    await expect(banner).toContainText("It counts in no other project.", { timeout: 150_000 });
    await expect(page.getByRole("table", { name: "Worst endpoints" })).toContainText("POST /checkout");
    await look(page, "demo-overview");
    for (const label of ["Endpoints", "Issues", "Logs"]) {
      await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: label, exact: true }).click();
      await expect(banner).toContainText("This is demo data.");
    }
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Connect" }).click();
    await expect(page.getByRole("table", { name: "Services" })).toContainText("mail-worker");
    await look(page, "demo-connect");

    // The other project contains none of the demo data, only a link to it.
    await page.goto(`${server.url}/p/${account.project}`);
    await expect(page.getByText("Nothing has arrived yet")).toBeVisible();
    await expect(page.getByText("This is demo data.")).toHaveCount(0);
    await page.getByRole("link", { name: "Open the demo data" }).click();
    await banner.getByRole("button", { name: "Remove demo data" }).click();
    await expect(page.getByText("The demo data is removed")).toBeVisible();
    await expect(page.getByRole("button", { name: "Project: shop. Switch project" })).toBeVisible();
    await expect(page.getByRole("button", { name: "Load demo data" })).toBeVisible();
    expect(problems).toEqual([]);
  } finally {
    await server.stop();
  }
});

test("demo data interrupted by a stop can be loaded again or removed", async ({ page }) => {
  const server = await startServer();
  try {
    const account = await register(server.url);
    const path = `/api/organizations/${account.organization}/demo`;
    const call = async (method: string, body?: unknown) => {
      const answer = await fetch(server.url + path, {
        method,
        headers: { authorization: `Bearer ${account.session}`, "content-type": "application/json" },
        body: body ? JSON.stringify(body) : undefined,
      });
      return (await answer.json()) as { state: string; projectId: string; spans: number };
    };
    await call("POST", { historyMinutes: 240 });
    await expect.poll(async () => (await call("GET")).spans).toBeGreaterThan(0);
    await server.kill();
    const problems = await signIn(page, account);
    const { state, projectId } = await call("GET");
    expect(state).toBe("interrupted");
    await page.goto(`${server.url}/p/${projectId}`);
    const banner = page.getByRole("region", { name: "Demo data" });
    await expect(banner).toContainText("The server stopped while it was being loaded");
    await look(page, "demo-interrupted");
    await banner.getByRole("button", { name: "Load it again" }).click();
    await expect(page).not.toHaveURL(new RegExp(projectId));
    await banner.getByRole("button", { name: "Remove demo data" }).click();
    await expect(page.getByText("The demo data is removed")).toBeVisible();
    expect((await call("GET")).state).toBe("none");
    expect(problems).toEqual([]);
  } finally {
    await server.stop();
  }
});

test("after the first span Connect lists the services, missing signals and next steps", async ({ page }) => {
  const server = await startServer();
  try {
    const account = await register(server.url);
    const problems = await signIn(page, account);
    await page.goto(`${server.url}/p/${account.project}/connect`);
    await expect(page.getByText("Waiting for the first span…")).toBeVisible();
    await expect(page.getByRole("table", { name: "Services" })).toHaveCount(0);

    const now = Date.now() - 60_000;
    const trace = (id: string, service: string) =>
      resourceSpans(id, now, [
        { id: id.slice(0, 16), name: "GET /hello", kind: 2, at: 0, ms: 12, service, attributes: HTTP },
      ]);
    const spans = [...trace("a".repeat(32), "front"), ...trace("b".repeat(32), "billing")];
    spans[0].resource.attributes.push(
      ...Object.entries({
        "telemetry.sdk.language": "nodejs",
        "telemetry.sdk.name": "opentelemetry",
        "telemetry.sdk.version": "2.1.0",
      }).map(([key, value]) => ({ key, value: { stringValue: value } })),
    );
    await mustPost(server.url, account.token, "traces", { resourceSpans: spans });
    const log = { at: 0, severity: 9, text: "INFO", body: "hello", service: "front" };
    await mustPost(server.url, account.token, "logs", { resourceLogs: resourceLogs(now, [log]) });

    // It appears without a reload.
    const table = page.getByRole("table", { name: "Services" });
    const row = table.getByRole("row", { name: /front/ });
    await expect(row).toContainText("Node.js opentelemetry 2.1.0");
    await expect(row).toContainText("1.42.0");
    await expect(row.getByRole("link", { name: "1 span of front" })).toHaveText("1");
    await expect(row.getByRole("link", { name: "1 log record of front" })).toBeVisible();
    await expect(row).toContainText("nothing yet");
    await expect(page.getByText("1 endpoint", { exact: true })).toBeVisible();
    await page.getByText("What is missing, and how to get it").click();
    await expect(page.getByText(/No metrics from .*front/)).toBeVisible();
    await expect(page.getByText("OTEL_METRICS_EXPORTER=otlp", { exact: true })).toBeVisible();
    await expect(page.getByText(/No logs from billing/)).toBeVisible();
    await expect(page.getByRole("button", { name: "Load demo data" })).toHaveCount(0);
    await look(page, "connect-services");

    const next = page.getByRole("region", { name: "Next steps" });
    await next.getByRole("link", { name: "Read the logs of front" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Logs");
    await expect(page).toHaveURL(/service=front/);
    await expect(page.getByText("hello", { exact: true })).toBeVisible();
    await page.goBack();
    await next.getByRole("link", { name: "Look at GET /hello" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("GET /hello");
    await page.goBack();
    await table.getByRole("link", { name: "1 span of billing" }).click();
    await expect(page).toHaveURL(/service=billing/);
    await page.goBack();
    await next.getByRole("link", { name: "Invite a colleague" }).click();
    await expect(page).toHaveURL(/\/organization\?.*tab=invitations/);
    expect(problems).toEqual([]);
  } finally {
    await server.stop();
  }
});
