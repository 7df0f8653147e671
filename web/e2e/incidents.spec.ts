// Incidents: opened, updated and resolved by hand; alerts and deploys on the timeline; post-mortems without HTML.
import { serious } from "./support/axe.ts";
import { at, expect, test } from "./support/fixtures.ts";
import { fits } from "./support/layout.ts";

test("an incident is opened, updated, resolved and described, by keyboard too", async ({ page, shop }) => {
  await page.goto(at(shop, ""));
  await expect(page.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();
  await page.keyboard.press("g");
  await page.keyboard.press("f");
  await expect(page.getByRole("heading", { name: "Incidents", level: 1 })).toBeVisible();
  await expect(page.getByText("No open incidents")).toBeVisible();
  expect.soft(await serious(page)).toEqual([]);

  await page.getByRole("button", { name: "Open an incident" }).click();
  const dialog = page.getByRole("dialog", { name: "Open an incident" });
  await dialog.getByLabel("Title").fill("Disk <b>full</b>");
  await dialog.getByLabel("Severity").selectOption("critical");
  await dialog.getByLabel("What is known").fill("We look.\nSecond line.");
  expect.soft(await serious(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Open", exact: true }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Disk <b>full</b>", level: 1 })).toBeVisible();
  const timeline = page.getByRole("list", { name: "Timeline" });
  await expect(timeline.getByText("Second line.")).toBeVisible();
  await expect(page.getByText("no alert has joined")).toBeVisible();

  await page.getByLabel("Status", { exact: true }).selectOption("resolved");
  await page.getByLabel("What is known").fill("Space again.");
  await page.getByRole("button", { name: "Write the update" }).click();
  await expect(page.getByRole("heading", { name: "Open it again" })).toBeVisible();
  await expect(timeline).toContainText("Update: Resolved");

  await page.getByRole("button", { name: "Write", exact: true }).click();
  const markdown = page.getByLabel("Markdown");
  await expect(markdown).toHaveValue(/## Timeline\n\n(- .*\n)*- .*Opened: Disk/);
  await markdown.fill(
    "# Why\n\n<img src=x onerror=alert(1)> **logs** [bad](javascript:alert(1)) [good](https://example.com)",
  );
  const preview = page.getByRole("region", { name: "Preview" });
  await expect(preview.getByRole("heading", { name: "Why" })).toBeVisible();
  await expect(preview.getByRole("link")).toHaveText(["good"]);
  await expect(preview).toContainText("<img src=x onerror=alert(1)>");
  await expect(preview.locator("img")).toHaveCount(0);
  expect.soft(await serious(page)).toEqual([]);
  await page.getByRole("button", { name: "Save" }).last().click();
  await expect(page.getByRole("button", { name: "Edit" })).toBeVisible();

  await page.goto(at(shop, "/incidents?show=resolved"));
  await expect(
    page.getByRole("table", { name: "Incidents" }).getByRole("link", { name: "Disk <b>full</b>" }),
  ).toBeVisible();
  await page.getByRole("link", { name: "Post-mortems" }).click();
  await expect(page.getByRole("table", { name: "Post-mortems" })).toContainText("to members");
});

test("an incident of alerts shows them and the deploys before it, on a phone", async ({ page, shop }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const time = (minute: number) => new Date(Date.UTC(2026, 10, 23, 9, minute)).toISOString();
  const entry = (minute: number, kind: string, title: string, path = "") => ({
    time: time(minute),
    kind,
    title,
    message: "",
    author: "",
    path,
  });
  const long = `checkout is slow ${"x".repeat(120)}`;
  await page.route("**/api/organizations/*/incidents/7", (route) =>
    route.fulfill({
      json: {
        incident: {
          id: 7,
          title: long,
          severity: "critical",
          status: "investigating",
          automatic: true,
          projectId: shop.project,
          projectName: "shop",
          startedAt: time(44),
          resolvedAt: null,
          updatedAt: time(46),
        },
        alerts: [
          {
            subject: long,
            ruleType: "endpoint_p95_threshold",
            severity: "critical",
            path: "/",
            firedAt: time(44),
            resolvedAt: null,
            momentary: false,
          },
          {
            subject: "New Issue: TypeError: null",
            ruleType: "new_error",
            severity: "critical",
            path: "/",
            firedAt: time(45),
            resolvedAt: time(45),
            momentary: true,
          },
        ],
        timeline: [
          entry(40, "deploy", "shop 1.2"),
          entry(41, "issue_new", "TypeError: null", at(shop, "/issues/00000000000000aa").slice(shop.url.length)),
          entry(42, "issue_regressed", long, "/"),
          entry(44, "opened", long),
          entry(44, "alert_fired", long, "/"),
        ],
        lacksIssues: true,
        statusPageIds: [],
        postMortem: null,
        postMortemDraft: "",
      },
    }),
  );
  await page.goto(at(shop, "/incidents/7"));
  const timeline = page.getByRole("list", { name: "Timeline" });
  await expect(timeline.getByRole("listitem").first()).toContainText("Deploy: shop 1.2");
  const alerts = page.getByRole("list", { name: "Alerts" }).getByRole("listitem");
  await expect(alerts.first()).toContainText("fires");
  await expect(alerts.last()).toContainText("fired");
  await expect(timeline.getByRole("link", { name: "TypeError: null" })).toHaveAttribute(
    "href",
    /\/issues\/00000000000000aa$/,
  );
  await expect(timeline.getByRole("listitem").nth(2)).toContainText("Issue is back: checkout");
  await expect(page.getByText("Issues are missing")).toBeVisible();
  await fits(page);
  expect.soft(await serious(page)).toEqual([]);
});

test("an incident that does not exist says so", async ({ page, shop, problems }) => {
  await page.goto(at(shop, "/incidents/999"));
  await expect(page.getByRole("alert")).toContainText("No such incident");
  expect(problems.every((problem) => problem.includes("404"))).toBe(true);
  problems.length = 0;
});
