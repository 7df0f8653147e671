// The three golden journeys, each by mouse and by keyboard alone, on incidents of the demo. They assert the answer.
import type { Locator, Page } from "@playwright/test";
import { at, enter, expect } from "./support/fixtures.ts";
import { INCIDENT_MINUTES, test } from "./support/incidents.ts";

/** Largest distance of the named start from the planted one. */
const START_MINUTES = 10;
/** Presses of Tab within which a reader of the page reaches any link of the first screen. */
const TABS_MAX = 120;

/** Follows links and buttons, and counts them. */
interface Hand {
  steps: number;
  take: (target: Locator) => Promise<void>;
}

function mouse(): Hand {
  const hand: Hand = {
    steps: 0,
    take: async (target) => {
      await target.click();
      hand.steps += 1;
    },
  };
  return hand;
}

function keyboard(page: Page): Hand {
  const hand: Hand = {
    steps: 0,
    take: async (target) => {
      await expect(target).toBeVisible();
      const isFocused = () => target.evaluate((element) => element === document.activeElement);
      for (let tabs = 0; !(await isFocused()); tabs++) {
        expect(tabs, "reached with Tab").toBeLessThan(TABS_MAX);
        await page.keyboard.press("Tab");
      }
      await page.keyboard.press("Enter");
      hand.steps += 1;
    },
  };
  return hand;
}

const HANDS = [
  ["mouse", mouse],
  ["keyboard", keyboard],
] as const;

const changes = (page: Page) => page.getByRole("list", { name: "What changed for the worse" }).getByRole("listitem");

/** The sentence names a time of day near the start of the incident. */
async function expectStart(sentence: Locator, sinceMinutes: number): Promise<void> {
  const text = (await sentence.textContent()) ?? "";
  const [, hours, minutes] = /since (?:about )?(\d\d):(\d\d)/.exec(text) ?? [];
  expect(hours, text).toBeDefined();
  const now = new Date();
  const elapsed = now.getUTCHours() * 60 + now.getUTCMinutes() - (Number(hours) * 60 + Number(minutes));
  const late = ((elapsed + 1440) % 1440) - sinceMinutes;
  // The history ended when the server started.
  expect(late, text).toBeGreaterThanOrEqual(-START_MINUTES);
  expect(late, text).toBeLessThanOrEqual(START_MINUTES);
}

for (const [by, hold] of HANDS) {
  test(`a deploy got slow: from the sentence to the guilty span in four steps, by ${by}`, async ({ page, release }) => {
    const hand = hold(page);
    await enter(page, release);
    await page.goto(at(release));
    const worst = changes(page).first();
    await expect(worst).toContainText("POST /orders is");
    await expect(worst).toContainText("times slower (P50");
    await expect(worst).toContainText("version 1.42.0 of checkout");
    await expectStart(worst, INCIDENT_MINUTES);
    await hand.take(worst.getByRole("link", { name: "Why? POST /orders" }));

    const causes = page.getByRole("list", { name: "Causes" }).getByRole("listitem");
    await expect(causes.first()).toContainText("service.version = 1.42.0");
    await expect(page.getByRole("table", { name: "Own time of operations" })).toContainText("SELECT postgresql");
    await hand.take(page.getByRole("button", { name: "Filter by service.version = 1.42.0" }));

    const slowest = page.getByRole("table", { name: "Requests" }).getByRole("row").nth(1);
    await expect(page).toHaveURL(/where=/);
    await expect(slowest).toContainText("1.42.0");
    await hand.take(slowest.getByRole("link").first());

    const guilty = page.getByText("Most of the time:").getByRole("link", { name: "SELECT postgresql" });
    await hand.take(guilty);
    const drawer = page.getByRole("complementary", { name: "Span SELECT postgresql" });
    await expect(drawer).toContainText("stock_history");
    expect(hand.steps).toBe(4);
  });

  test(`errors spike: from the overview to the line of code in one step, and to its span in two, by ${by}`, async ({
    page,
    release,
  }) => {
    const hand = hold(page);
    await enter(page, release);
    await page.goto(at(release));
    const fresh = page.getByRole("list", { name: "What is new" }).getByRole("listitem").first();
    await expect(fresh).toContainText("since checkout 1.42.0");
    await hand.take(fresh.getByRole("link", { name: "shop.orders.TotalMismatch" }));

    await expect(page.getByRole("heading", { level: 1 })).toHaveText("shop.orders.TotalMismatch");
    const line = page.getByText("look here first").locator("xpath=..");
    await expect(line).toContainText("verify_total/app/orders/totals.py:41");
    await expect(page.getByText("raise TotalMismatch(")).toBeVisible();
    await hand.take(page.getByRole("link", { name: "View trace" }));
    const drawer = page.getByRole("complementary", { name: "Span POST /orders" });
    await expect(drawer).toContainText("shop.orders.TotalMismatch");
    expect(hand.steps).toBe(2);
  });

  test(`the bill of a model: from the sentence to the conversation in two steps, by ${by}`, async ({
    page,
    prompt,
  }) => {
    const hand = hold(page);
    await enter(page, prompt);
    await page.goto(at(prompt));
    const dearer = changes(page).filter({ hasText: "more per call" });
    await expect(dearer).toContainText(/^support-assistant .*costs 2\.\d times more per call/);
    await expectStart(dearer, INCIDENT_MINUTES);
    await hand.take(dearer.getByRole("link", { name: "Why? support-assistant" }));

    const causes = page.getByRole("list", { name: "Causes" }).getByRole("listitem");
    await expect(causes.first()).toContainText("prompt.version = 7");
    const dearest = page.getByRole("table", { name: "Calls" }).getByRole("row").nth(1);
    await hand.take(dearest.getByRole("link").first());
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("support-assistant");
    await expect(page.getByRole("list", { name: "Conversation" })).toContainText("You help customers");
    expect(hand.steps).toBe(2);
  });
}

test("lists show the numbers since an open change, and its chip opens the explanation", async ({ page, release }) => {
  await enter(page, release);
  for (const path of ["/services", "/services/checkout", "", "/endpoints"]) {
    await page.goto(at(release, path));
    const chip = page.getByRole("link", { name: /^\d(\.\d)? × since \d\d:\d\d\. Why\? POST \/orders$/ });
    await expect(chip.first(), path).toBeVisible();
  }
  const row = (name: string) => page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
  // 165 ms in the whole range.
  await expect(
    row("POST /orders")
      .getByRole("cell", { name: /^1\.\d+ s$/ })
      .first(),
  ).toBeVisible();
  await expect(
    row("POST /checkout").getByRole("link", { name: /^suffers since .*Why\? POST \/orders$/ }),
  ).toBeVisible();
  // Its page says the same as the list.
  await page.goto(at(release, "/endpoints/POST%20%2Fcheckout"));
  await expect(page.getByText(/^Numbers since \d\d:\d\d; charts show the whole time range\.$/)).toBeVisible();
  await expect(page.locator("dl").filter({ hasText: "Usual (p50)" }).first()).toContainText(/Usual \(p50\)1\.\d+ s/);
  await page.goto(at(release, "/endpoints"));
  await row("POST /orders")
    .getByRole("link", { name: /Why\? POST \/orders$/ })
    .click();
  const causes = page.getByRole("list", { name: "Causes" }).getByRole("listitem");
  await expect(causes.first()).toContainText("service.version = 1.42.0");
});

test("an issue and the logs of a query are explained", async ({ page, release }) => {
  await enter(page, release);
  await page.goto(at(release, "/issues"));
  await page.getByRole("link", { name: "shop.orders.TotalMismatch", exact: true }).click();
  await page.getByRole("button", { name: "Explain" }).click();
  const causes = page.getByRole("list", { name: "Causes" }).getByRole("listitem");
  await expect(causes.first()).toContainText("1.42.0");
  await page.goto(at(release, "/logs?q=cannot+place"));
  await page.getByRole("button", { name: "Explain" }).click();
  await expect(causes.first()).toContainText("service.version = 1.42.0");
  await page.getByRole("button", { name: "Close" }).click();
  await expect(causes).toHaveCount(0);
});
