// Status pages: list, editor with a preview, logo, maintenance.
import type { Page } from "@playwright/test";
import { serious } from "./support/axe.ts";
import { at, expect, test } from "./support/fixtures.ts";
import { fits } from "./support/layout.ts";

const CHECKS = [
  { id: 1, name: "Shop", checkType: "http", status: "up" },
  { id: 2, name: "Search <b>", checkType: "tcp", status: "down" },
];
const PAGE = {
  id: 5,
  name: "Acme",
  slug: "acme",
  isPublic: true,
  checkIds: [1],
  description: "All of Acme",
  customDomain: null,
  groups: [],
  hasLogo: false,
  subscribers: 3,
  maintenance: [],
  createdAt: "2026-11-23T09:00:00Z",
  updatedAt: "2026-11-23T09:00:00Z",
};
const day = (total: number, up: number) => ({ bucket: "", total, up, missed: 0, avgLatencyMs: 0, maxLatencyMs: 0 });

/** Answers the API as a server with two monitors; returns the bodies that pages were saved with. */
async function monitors(page: Page, pages: unknown[]): Promise<Record<string, unknown>[]> {
  const saved: Record<string, unknown>[] = [];
  const list = [...pages];
  await page.route("**/api/organizations/*/status-pages", (route) => {
    if (route.request().method() === "GET") return route.fulfill({ json: { statusPages: list, checks: CHECKS } });
    const body = route.request().postDataJSON();
    saved.push(body);
    list.push({ ...PAGE, ...body, id: 6 });
    return route.fulfill({ status: 201, json: { ...PAGE, ...body, id: 6 } });
  });
  await page.route("**/api/organizations/*/status-pages/preview", (route) => {
    const { name, description, checkIds, groups } = route.request().postDataJSON();
    const checks = CHECKS.filter((check) => checkIds.includes(check.id)).map((check) => ({
      name: check.name,
      checkType: check.checkType,
      status: check.status,
      group: groups.find((group: { checkIds: number[] }) => group.checkIds.includes(check.id))?.name ?? "",
      uptimePct: 99.5,
      days: Array.from({ length: 90 }, (_, index) => ({ ...day(10, index % 9 ? 10 : 8), bucket: String(index) })),
      incidents: [],
    }));
    const empty = { hasLogo: false, pastIncidents: [], maintenance: [], generatedAt: "2026-11-23T09:00:00Z" };
    return route.fulfill({ json: { name, description, checks, ...empty } });
  });
  return saved;
}

test("a status page is made with a live preview", async ({ page, shop }) => {
  const saved = await monitors(page, []);
  await page.goto(at(shop, ""));
  await expect(page.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();
  await page.keyboard.press("g");
  await page.keyboard.press("w");
  await expect(page.getByRole("heading", { name: "Status pages", level: 1 })).toBeVisible();
  await expect(page.getByText("No status page yet")).toBeVisible();
  expect.soft(await serious(page)).toEqual([]);
  await page.getByRole("link", { name: "New status page" }).click();
  await expect(page.getByText("Name the page and choose at least one monitor.")).toBeVisible();
  await page.getByLabel("Name", { exact: true }).fill("Acme & Söhne");
  await expect(page.getByLabel("Address", { exact: true })).toHaveValue("acme-sohne");
  await page.getByLabel("Address", { exact: true }).fill("-");
  await expect(page.getByText("3 to 60 lower case letters")).toBeVisible();
  await page.getByLabel("Address", { exact: true }).fill("acme");
  await page.getByRole("checkbox", { name: "Shop" }).focus();
  await page.keyboard.press("Space");
  await page.getByRole("checkbox", { name: "Search <b>" }).check();
  await page.getByLabel("Group of Search <b>").fill("Core");
  await expect(page.getByRole("img", { name: "90 days of Shop" })).toBeVisible();
  await expect(page.getByText("99.50 % available in 90 days").first()).toBeVisible();
  expect.soft(await serious(page)).toEqual([]);
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("table", { name: "Status pages" })).toContainText("/status/acme");
  expect(saved).toEqual([
    {
      name: "Acme & Söhne",
      slug: "acme",
      isPublic: true,
      description: "",
      customDomain: null,
      checkIds: [1, 2],
      groups: [{ name: "Core", checkIds: [2] }],
    },
  ]);
});

test("settings, logo and maintenance of a page, on a phone", async ({ page, shop }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await monitors(page, [PAGE]);
  let logo = "";
  await page.route("**/api/organizations/*/status-pages/5/logo", async (route) => {
    logo = `${route.request().method()} ${route.request().headers()["content-type"]}`;
    await route.fulfill({ json: { ...PAGE, hasLogo: true } });
  });
  let planned: Record<string, string> = {};
  await page.route("**/api/organizations/*/status-pages/5/maintenance", async (route) => {
    planned = route.request().postDataJSON();
    await route.fulfill({ status: 201, json: { id: 1, ...planned } });
  });
  await page.goto(at(shop, "/status-pages"));
  const table = page.getByRole("table", { name: "Status pages" });
  await expect(table).toContainText("3");
  await table.getByRole("link", { name: "Acme", exact: true }).click();
  await expect(page).toHaveURL(/edit=5/);
  await expect(page.getByLabel("Name", { exact: true })).toHaveValue("Acme");
  const picture = { name: "logo.png", mimeType: "image/png", buffer: Buffer.from("89504e470d0a1a0a", "hex") };
  await page.getByLabel("Choose a file").setInputFiles(picture);
  await expect(page.getByText("Logo saved")).toBeVisible();
  expect(logo).toBe("POST application/octet-stream");
  await page.getByLabel("What is done").fill("New disks");
  await page.getByLabel("From", { exact: true }).fill("2026-11-24T09:00");
  await page.getByLabel("To", { exact: true }).fill("2026-11-24T10:00");
  await page.getByRole("button", { name: "Plan maintenance" }).click();
  await expect(page.getByText("Maintenance planned")).toBeVisible();
  expect(Date.parse(planned.endsAt) - Date.parse(planned.startsAt)).toBe(3_600_000);
  await fits(page);
  expect.soft(await serious(page)).toEqual([]);
});

test("deleting a page asks for its slug", async ({ page, shop }) => {
  await monitors(page, [PAGE]);
  let deleted = false;
  await page.route("**/api/organizations/*/status-pages/5", async (route) => {
    deleted = route.request().method() === "DELETE";
    await route.fulfill({ json: { id: 5 } });
  });
  await page.goto(at(shop, "/status-pages"));
  await page.getByRole("button", { name: "Delete Acme" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete Acme?" });
  const confirm = dialog.getByRole("button", { name: "Delete the status page" });
  await expect(confirm).toBeDisabled();
  await dialog.getByLabel("Type acme to go on").fill("acme");
  await confirm.click();
  await expect(page.getByText("Deleted Acme")).toBeVisible();
  expect(deleted).toBe(true);
});

test("the page of a slug is the server's, not the app's", async ({ page, shop, problems }) => {
  const answer = await page.goto(`${shop.url}/status/unknown`);
  expect(answer?.status()).toBe(404);
  await expect(page.getByRole("alert")).toHaveText("No such status page.");
  expect.soft(await serious(page)).toEqual([]);
  expect(answer?.headers()["x-frame-options"]).toBeUndefined();
  problems.length = 0;
});
