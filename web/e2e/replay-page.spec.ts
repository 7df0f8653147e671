// The page of a session around a hostile recording: nothing covers it, it takes no focus, and stays usable.
import type { Frame, Page } from "@playwright/test";
import { serious } from "./support/axe.ts";
import { at, expect, type Shop, test } from "./support/fixtures.ts";
import { enormous, hostile, LENGTH_MS } from "./support/recordings.ts";
import { sessionRow } from "./support/sent-sessions.ts";
import { type ThirdParty, thirdParty } from "./support/third-party.ts";

const ID = "4b0e6a5c-2a7d-4f2e-9a0b-aabbccddeeff";

let evil: ThirdParty;
test.beforeAll(async () => {
  evil = await thirdParty();
});
test.afterAll(() => evil.stop());
test.beforeEach(() => {
  evil.seen.length = 0;
});

/** Opens the session page on a recording. Returns the addresses of all requests that leave the server. */
async function open(page: Page, shop: Shop, document: string): Promise<string[]> {
  const outside: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(shop.url) && !request.url().startsWith("data:")) outside.push(request.url());
  });
  const startedAt = "2026-03-01T09:00:00Z";
  const endedAt = new Date(Date.parse(startedAt) + LENGTH_MS).toISOString();
  await page.route(`**/api/sessions/${ID}?**`, (route) =>
    route.fulfill({ json: detail({ id: ID, startedAt, endedAt, duration: LENGTH_MS * 1e6 }) }),
  );
  await page.route(`**/api/sessions/${ID}/recording**`, (route) =>
    route.fulfill({ contentType: "application/json", body: document }),
  );
  await page.goto(at(shop, `/sessions/${ID}`));
  await expect(page.getByRole("button", { name: "Play", exact: true })).toBeVisible();
  return outside;
}

const detail = (session: { id: string; startedAt: string; endedAt: string; duration: number }) => ({
  session: sessionRow({ ...session, userId: "<b>mallory</b>", attributes: { userId: "<b>mallory</b>" } }),
  segments: [{ segmentIndex: 0, startedAt: session.startedAt, endedAt: session.endedAt, eventBytes: 1 }],
  linkedTraceIds: [],
  errors: [],
});

const playerFrame = async (page: Page): Promise<Frame> => {
  await expect.poll(() => page.frames().some((frame) => frame.url().startsWith("data:"))).toBe(true);
  return page.frames().find((frame) => frame.url().startsWith("data:"))!;
};

/** The recorded page, once it is built. */
async function built(page: Page, text: string): Promise<Frame> {
  const frame = await playerFrame(page);
  const seen = () =>
    frame.evaluate(() => document.querySelector("iframe")?.contentDocument?.documentElement?.textContent ?? "");
  await expect.poll(seen).toContain(text);
  return frame;
}

test("a hostile recording runs nothing, loads nothing and covers nothing", async ({ page, shop }) => {
  page.on("dialog", () => {
    throw new Error("the recording opened a dialog");
  });
  const outside = await open(page, shop, JSON.stringify(hostile(evil.url)));
  const address = page.url().split("?")[0];
  const frame = await built(page, "YOUR SESSION HAS EXPIRED");
  await page.keyboard.press("Space");
  await expect(page.getByRole("slider", { name: "Position" })).not.toHaveAttribute("aria-valuenow", "0");
  await page.keyboard.press("Space");

  // No code of the recording has run, in any of the frames.
  for (const one of page.frames().filter((one) => one.url() !== "about:blank"))
    expect(await one.evaluate(() => "__pwned" in window), one.url().slice(0, 40)).toBe(false);
  const inside = await frame.evaluate(() => {
    const { document: recorded, contentWindow } = {
      document: document.querySelector("iframe")!.contentDocument!,
      contentWindow: document.querySelector("iframe")!.contentWindow!,
    };
    const all = [...recorded.querySelectorAll("*")];
    return {
      pwned: "__pwned" in contentWindow,
      scripts: recorded.scripts.length,
      handlers: all
        .flatMap((one) => [...one.attributes].map(({ name }) => name))
        .filter((name) => name.startsWith("on")),
      addresses: recorded.documentElement.outerHTML.match(/https?:\/\/127[^"') ]*/g),
      sandbox: document.querySelector("iframe")!.getAttribute("sandbox"),
      origin: self.origin,
    };
  });
  expect(inside).toEqual({
    pwned: false,
    scripts: 0,
    handlers: [],
    addresses: null,
    sandbox: "allow-same-origin",
    origin: "null",
  });
  // Nobody outside was asked.
  expect(outside).toEqual([]);
  expect(evil.seen).toEqual([]);
  // The page is where it was, and nothing lies over it.
  expect(page.url().split("?")[0]).toBe(address);
  expect(page.context().pages()).toHaveLength(1);
  const title = page.getByRole("heading", { level: 1 });
  await expect(title).toHaveText("Session of <b>mallory</b>");
  expect(
    await title.evaluate((one) => {
      const box = one.getBoundingClientRect();
      return document.elementFromPoint(box.x + 20, box.y + 8)?.tagName;
    }),
  ).toBe("H1");
  await expect(page.getByText("it broke")).toContainText("<img src=x onerror=alert(1)>");
  await expect(page.getByText(/from other servers are not loaded/)).toBeVisible();
  // Neither the pointer nor the Tab key enters the recording.
  const box = (await page.locator("iframe").boundingBox())!;
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe("IFRAME");
  }
  expect(evil.seen).toEqual([]);
  expect(await serious(page)).toEqual([]);
});

test("an enormous recording is cut, and the page stays usable", async ({ page, shop }) => {
  await open(page, shop, enormous(20_000, 200_000));
  await built(page, "");
  await expect(page.getByText(/too large to be drawn whole/)).toBeVisible();
  const size = await (await playerFrame(page)).evaluate(
    () => document.querySelector("iframe")!.contentDocument!.querySelectorAll("*").length,
  );
  expect(size).toBeLessThan(61_000);
  await page.keyboard.press("Space");
  await expect(page.getByRole("slider", { name: "Position" })).not.toHaveAttribute("aria-valuenow", "0");
  await page.getByRole("link", { name: /Network/ }).click();
  await expect(page.getByText("/api/pay")).toBeVisible();
});
