// Profiles of real programs: the list, the flame graph, functions, a comparison, the file, and the link from a span.
import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { at, test as base, expect, type Shop } from "./support/fixtures.ts";
import { look } from "./support/layout.ts";
import { mustPost, resourceSpans } from "./support/otlp.ts";
import { atTime } from "./support/pprof.ts";
import { newProject, shared } from "./support/project.ts";

const TRACE = "f1a3e000000000000000000000000001";
const SPAN = "f1a3e00000000001";
/** A profile of a minute ago. */
const fixture = (name: string) =>
  atTime(readFileSync(new URL(`../../fixtures/profiles/${name}.pprof`, import.meta.url)), Date.now() - 60_000);

/** A project with the profiles of a Go and a Node.js program, and a span whose samples carry its id. */
const profiledOf = shared(async (shop) => {
  const own = await newProject(shop, "profiled");
  const headers = { authorization: `Bearer ${own.token}` };
  for (const [file, service, version] of [
    ["go-cpu", "store", "1.0.0"],
    ["go-cpu", "store", "1.1.0"],
    ["go-heap", "store", "1.1.0"],
    ["node-wall", "front", "2.0.0"],
  ]) {
    const url = `${shop.url}/api/profiles/ingest?service=${service}&serverName=a&appVersion=${version}`;
    const sent = await fetch(url, { method: "POST", headers, body: fixture(file as string) });
    expect(sent.status, await sent.text()).toBe(200);
  }
  const now = Date.now() - 60_000;
  await mustPost(shop.url, own.token, "traces", {
    resourceSpans: resourceSpans(TRACE, now, [
      {
        id: SPAN,
        name: "GET /slow",
        kind: 2,
        at: 0,
        ms: 900,
        service: "cart",
        attributes: { "http.request.method": "GET", "http.route": "/slow" },
      },
    ]),
  });
  const ns = (ms: number) => `${ms}000000`;
  const sample = {
    stackIndex: 1,
    values: ["900000000"],
    linkIndex: 1,
    timestampsUnixNano: [ns(now + 10)],
  };
  const profile = {
    sampleType: { typeStrindex: 1, unitStrindex: 2 },
    timeUnixNano: ns(now - 1000),
    durationNano: "10000000000",
    samples: [sample],
  };
  const resource = { attributes: [{ key: "service.name", value: { stringValue: "cart" } }] };
  const otlp = await fetch(`${shop.url}/api/otel/v1development/profiles`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({
      resourceProfiles: [{ resource, scopeProfiles: [{ profiles: [profile] }] }],
      dictionary: {
        stringTable: ["", "cpu", "nanoseconds", "cart.price", "cart.total"],
        functionTable: [{}, { nameStrindex: 3 }, { nameStrindex: 4 }],
        locationTable: [{}, { lines: [{ functionIndex: 1 }] }, { lines: [{ functionIndex: 2 }] }],
        stackTable: [{}, { locationIndices: [1, 2] }],
        linkTable: [{}, { traceId: TRACE, spanId: SPAN }],
      },
    }),
  });
  expect(otlp.status, await otlp.text()).toBe(200);
  return own;
});
const test = base.extend<{ profiled: Shop }>({
  profiled: async ({ shop }, use) => use(await profiledOf(shop)),
});

const RANGE = "from=now-1h";
const CPU = "go:profile_cpu:nanoseconds";

const graph = (page: Page) => page.getByRole("application", { name: /Flame graph/ });

test("the list leads to a flame graph with the functions of the program", async ({ page, profiled }) => {
  await page.goto(at(profiled, `/profiles?${RANGE}`));
  const row = page.getByRole("row", { name: /store.*cpu · nanoseconds/ });
  await expect(row).toContainText("2.02 s");
  await row.getByRole("link", { name: "store" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("store");
  await expect(graph(page)).toBeVisible();
  // The graph is a canvas: the keyboard's cursor tells what it draws.
  await graph(page).focus();
  await page.keyboard.press("ArrowDown");
  const status = page.getByRole("status").filter({ hasText: "runtime.main" });
  await expect(status).toContainText(/runtime\.main, .* \(9\d(\.\d)? %\), own 0 ms/);
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("status").filter({ hasText: "main.main" })).toBeAttached();
  // Enter zooms: only callees of the function remain beside its callers.
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowUp");
  await expect(status).toBeAttached();
  await page.keyboard.press("Escape");
  // A search gives the share below matching functions.
  await page
    .getByRole("searchbox", { name: "Search functions" })
    .or(page.getByLabel("Search functions"))
    .first()
    .fill("sha256");
  await expect(page.getByText(/below matching functions/)).toBeVisible();
});

test("functions, their callers and callees, and packages", async ({ page, profiled }) => {
  await page.goto(at(profiled, `/profiles/store?type=${CPU}&view=functions&${RANGE}`));
  const table = page.getByRole("table", { name: "Functions" });
  // The totals are those of `go tool pprof -top`, twice: the file was sent for two versions.
  const row = table.getByRole("row", { name: /runtime\.mallocgc runtime\/malloc\.go/ });
  await expect(row).toContainText("420 ms");
  await row.getByRole("link", { name: "runtime.mallocgc" }).click();
  await expect(page.getByRole("heading", { name: "Callers and callees of runtime.mallocgc" })).toBeVisible();
  await expect(page.getByRole("application", { name: /^Callers of 420 ms/ })).toBeVisible();
  await expect(page.getByRole("application", { name: /^Callees of 420 ms/ })).toBeVisible();
  await page.getByRole("button", { name: "Whole flame graph" }).click();
  await expect(graph(page)).toBeVisible();
  await page.getByRole("button", { name: "Packages" }).click();
  await expect(page.getByRole("table", { name: "Packages" })).toContainText("encoding/json");
});

test("two versions are compared", async ({ page, profiled }) => {
  await page.goto(at(profiled, `/profiles/store?type=${CPU}&version=1.1.0&${RANGE}`));
  await page.getByLabel("Compare with").selectOption("version 1.0.0");
  await expect(page.getByText("compared with 1.01 s in 1 profile")).toBeVisible();
  await expect(page.getByText("greater share than before")).toBeVisible();
  await graph(page).focus();
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("status").filter({ hasText: "no change of its share" })).toBeAttached();
});

test("the file of a selection is a pprof", async ({ page, profiled }) => {
  await page.goto(at(profiled, `/profiles/front?${RANGE}`));
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download pprof" }).click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^front-.*\.pprof$/);
  const bytes = readFileSync(await file.path());
  expect([...bytes.subarray(0, 2)], "gzip").toEqual([0x1f, 0x8b]);
});

test("a span leads to its samples", async ({ page, profiled }) => {
  await page.goto(at(profiled, `/traces/${TRACE}?span=${SPAN}`));
  const drawer = page.getByRole("complementary", { name: "Span GET /slow" });
  await expect(drawer.getByRole("heading", { name: "Profiles at this time" })).toBeVisible();
  await expect(drawer).toContainText("of this span");
  await drawer.getByRole("link", { name: /cpu/ }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("cart");
  await expect(page.getByRole("button", { name: "Show the samples of all spans" })).toBeVisible();
  await graph(page).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("status").filter({ hasText: "cart.price, 900 ms (100 %)" })).toBeAttached();
  // Profiles with times are also drawn in the order of time.
  await page.getByRole("button", { name: "In order of time" }).click();
  await expect(page).toHaveURL(/order=time/);
  await expect(graph(page)).toBeVisible();
});

test("the pages of profiles", async ({ page, profiled }) => {
  test.setTimeout(300_000);
  for (const [name, path] of [
    ["profiles", `/profiles?${RANGE}`],
    ["profile-flame", `/profiles/store?type=${CPU}&${RANGE}`],
    ["profile-search", `/profiles/store?type=${CPU}&q=json&by=appVersion&${RANGE}`],
    ["profile-functions", `/profiles/store?type=${CPU}&view=functions&${RANGE}`],
    ["profile-compared", `/profiles/store?type=${CPU}&baseline=v:1.0.0&${RANGE}`],
    ["profile-sandwich", `/profiles/store?type=${CPU}&fn=runtime.mallocgc&${RANGE}`],
    ["profiles-empty", "/profiles?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z"],
  ] as const) {
    await page.goto(at(profiled, path));
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await look(page, name);
  }
});
