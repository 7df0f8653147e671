// Navigation between pages: focus, prefetched code, and the layout on the narrowest screen.
import { outsideLandmarks, serious } from "./support/axe.ts";
import { DESK } from "./support/desk.ts";
import { at, expect, test } from "./support/fixtures.ts";
import { wider } from "./support/layout.ts";
import { settled } from "./support/settled.ts";

const PAGES = ["Endpoints", "Tasks", "AI traces", "Issues", "Traces", "Logs", "Metrics", "Connect", "Settings"];

test("the first visit of every page moves the focus to its heading", async ({ page, desk }) => {
  await page.goto(at(desk));
  const rail = page.getByRole("navigation", { name: "Pages" });
  for (const name of PAGES) {
    await rail.getByRole("link", { name, exact: true }).click();
    const heading = page.getByRole("heading", { level: 1, name });
    await expect(heading).toBeVisible();
    await expect(heading).toBeFocused();
  }
});

test("a page whose heading loads with its data takes the focus too, as does one opened from the drawer", async ({
  page,
  desk,
}) => {
  await page.goto(at(desk, "/issues"));
  await page.getByRole("link", { name: "OutOfStock", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name: "OutOfStock" })).toBeFocused();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole("button", { name: "Open the page list" }).click();
  await page.getByRole("dialog", { name: "Pages" }).getByRole("link", { name: "Tasks" }).click();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(page.getByRole("heading", { level: 1, name: "Tasks" })).toBeFocused();
});

test("everything is inside a landmark", async ({ page, desk }) => {
  for (const path of ["", "/endpoints", `/traces/${DESK.slow}`, "/nowhere"]) {
    await page.goto(at(desk, path));
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    expect.soft([path, await outsideLandmarks(page)]).toEqual([path, []]);
  }
});

test("nothing scrolls sideways at 320 px", async ({ page, desk, problems }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  const issues = await fetch(`${desk.url}/api/exception-stack-traces?projectId=${desk.project}`, {
    method: "POST",
    headers: { authorization: `Bearer ${desk.session}`, "content-type": "application/json" },
    body: "{}",
  });
  const { data } = (await issues.json()) as { data: { exceptionHash: string }[] };
  for (const path of [
    "",
    "/endpoints",
    "/endpoints?metric=p95",
    "/endpoints/POST%20%2Fpay",
    "/tasks",
    "/tasks/ant%20process",
    "/ai",
    "/ai/desk-assistant",
    "/ai?conversation=talk-7",
    "/issues",
    ...data.map((issue) => `/issues/${issue.exceptionHash}`),
    "/sessions",
    "/traces",
    `/traces/${DESK.slow}`,
    `/traces/${DESK.slow}?tab=logs`,
    "/logs",
    "/metrics",
    "/connect",
    "/settings",
    "/settings/symbols",
    "/nowhere",
  ]) {
    await page.goto(at(desk, path));
    await expect(page.locator("h1").first()).toBeVisible();
    await settled(page);
    expect.soft(await wider(page), path).toEqual([]);
  }
  problems.length = 0;
});

test("a stack trace that scrolls sideways can be reached and scrolled by keyboard", async ({ page, desk }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(at(desk, "/issues"));
  await page.getByRole("link", { name: "Refused", exact: true }).click();
  const trace = page.getByRole("group", { name: "Stack trace, scrolls sideways" });
  await expect(trace).toBeVisible();
  await trace.focus();
  await expect(trace).toBeFocused();
  expect(await serious(page)).toEqual([]);
});

test("the other pages' code is prefetched", async ({ page, desk }) => {
  const scripts: string[] = [];
  page.on("request", (request) => {
    if (/\/assets\/.*\.js$/.test(request.url())) scripts.push(new URL(request.url()).pathname);
  });
  await page.goto(at(desk));
  const rail = page.getByRole("navigation", { name: "Pages" });
  await expect.poll(() => scripts.filter((name) => /\/Logs-/.test(name)).length).toBe(1);
  await expect.poll(() => scripts.filter((name) => /\/Issue-/.test(name)).length).toBe(1);
  const before = scripts.length;
  await rail.getByRole("link", { name: "Logs", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Logs");
  await rail.getByRole("link", { name: "Traces", exact: true }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Traces");
  expect(scripts.slice(before)).toEqual([]);
});

test("unknown addresses show a not-found page, with and without a project", async ({ page, desk }) => {
  await page.goto(at(desk, "/nowhere"));
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("No page at this address");
  await expect(page.getByRole("navigation", { name: "Pages" })).toBeVisible();
  await expect(page).toHaveTitle(/Page not found/);
  expect(await serious(page)).toEqual([]);
  await page.goto(`${desk.url}/nowhere/at/all`);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("No page at this address");
  await expect(page.getByRole("link", { name: "Tidewatch" })).toBeVisible();
  expect(await serious(page)).toEqual([]);
  expect(await outsideLandmarks(page)).toEqual([]);
  await page.getByRole("link", { name: "To the overview" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Overview");
});
