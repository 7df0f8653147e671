// Time charts: charts side by side share axes and cursor, and slots without measurements stay empty.
import { at, expect, test } from "./support/fixtures.ts";

const DAY_MS = 86_400_000;
const ENDPOINT = "/endpoints/POST%20%2Fpay";

test("charts side by side have the same plot and share the cursor", async ({ page, desk }) => {
  await page.goto(at(desk, `${ENDPOINT}?from=now-1h`));
  const duration = page.getByRole("figure", { name: "Duration" });
  const calls = page.getByRole("figure", { name: "Calls" });
  const plots = [duration.locator("[data-plot]"), calls.locator("[data-plot]")];
  await expect(plots[0].locator("canvas")).toBeVisible();
  await expect(plots[1].locator("svg")).toBeVisible();
  const [a, b] = [(await plots[0].boundingBox())!, (await plots[1].boundingBox())!];
  expect([a.y, a.height]).toEqual([b.y, b.height]);
  expect(Math.abs(a.width - b.width)).toBeLessThanOrEqual(1);
  // The pointer is over one chart; both show the cursor at the same position and time.
  // What loads above the charts may still move them from below the pointer.
  await expect(async () => {
    await plots[0].hover({ position: { x: a.width - 120, y: 60 } });
    for (const plot of plots) await expect(plot.locator("[data-cursor]")).toBeVisible({ timeout: 2_000 });
  }).toPass();
  const times = [];
  for (const plot of plots) {
    times.push((await plot.locator("[data-hover] > div").first().textContent()) ?? "");
  }
  expect(times[0]).toMatch(/\d\d:\d\d – \d\d:\d\d/);
  expect(times[1]).toBe(times[0]);
  const middles = [];
  for (const [plot, box] of [[plots[0], a] as const, [plots[1], b] as const]) {
    const cursor = (await plot.locator("[data-cursor]").boundingBox())!;
    middles.push(cursor.x + cursor.width / 2 - box.x);
  }
  expect(Math.abs(middles[0] - middles[1])).toBeLessThan(2);
  // Charts are drawn again under a pointer that rests: here in other colours.
  await page.emulateMedia({ colorScheme: "dark" });
  await expect(page.locator("html")).toHaveCSS("color-scheme", /dark/);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await expect(page.locator("[data-plot] [data-cursor]")).toHaveCount(2);
  await page.mouse.move(5, 5);
  await expect(page.locator("[data-cursor]")).toHaveCount(0);
});

test("labels are below the middle of their bar, and include the day if the range spans midnight", async ({
  page,
  desk,
}) => {
  // At every hour of the day, two midnights of these 60 hours are far from the right edge, where labels are left out.
  await page.goto(at(desk, `${ENDPOINT}?from=now-60h`));
  const plot = page.getByRole("figure", { name: "Calls" }).locator("[data-plot]");
  const ticks = plot.locator("[data-tick]");
  await expect(ticks.first()).toBeVisible();
  const found = await ticks.evaluateAll((groups) =>
    groups.map((group) => ({
      label: group.querySelector("text")?.textContent ?? "",
      anchor: group.querySelector("text")?.getAttribute("text-anchor"),
      same: group.querySelector("text")?.getAttribute("x") === group.querySelector("line")?.getAttribute("x1"),
    })),
  );
  expect(found.every((tick) => tick.anchor === "middle" && tick.same)).toBe(true);
  expect(found[0].label).toMatch(/^\d+ \w{3}/);
  const days = found.map((tick) => tick.label).filter((label) => /\w{3}/.test(label));
  expect(new Set(days).size).toBe(days.length);
  expect(days.length).toBeGreaterThan(1);
});

test("without measurements: a sentence, no axis", async ({ page, desk }) => {
  await page.goto(at(desk, `${ENDPOINT}?from=2020-01-01T00:00:00Z&to=2020-01-01T06:00:00Z`));
  const calls = page.getByRole("figure", { name: "Calls" });
  await expect(calls.getByText("Nothing was measured in this time range.")).toBeVisible();
  await expect(page.getByRole("figure", { name: "Duration" })).toContainText("Nothing was measured");
  const labels = await calls.locator("svg text").allTextContents();
  expect(labels.filter((label) => /^[\d.]+$/.test(label))).toEqual([]);
});

test("a chart as a table starts at the newest row", async ({ page, desk }) => {
  await page.goto(at(desk, `${ENDPOINT}?from=now-1h`));
  await page.getByRole("button", { name: "View Calls as table" }).click();
  const rows = page.getByRole("region", { name: "Calls, table" }).getByRole("row");
  await expect(rows.nth(1)).toBeVisible();
  const cells = await rows.evaluateAll((all) => all.slice(1).map((one) => one.querySelector("th, td")?.textContent));
  // The cells have no year: in January some are of the last one.
  const time = (cell: string | null | undefined) => {
    const now = Date.now();
    const ofThisYear = Date.parse(`${cell} ${new Date(now).getUTCFullYear()} UTC`);
    return ofThisYear > now + DAY_MS ? Date.parse(`${cell} ${new Date(now).getUTCFullYear() - 1} UTC`) : ofThisYear;
  };
  expect(cells.length).toBeGreaterThan(1);
  expect(time(cells[0])).toBeGreaterThan(time(cells.at(-1)));
});
