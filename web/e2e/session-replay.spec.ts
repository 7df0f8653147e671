// A session that the real browser SDK records of a real page is played back: what the user saw, and what happened.
import type { Browser, Frame, Page } from "@playwright/test";
import { serious } from "./support/axe.ts";
import { at, expect, type Shop, test } from "./support/fixtures.ts";
import { look } from "./support/layout.ts";
import { Sent, sessionRow } from "./support/sent-sessions.ts";
import { sessionApp } from "./support/session-app.ts";

/** Buys three books and fails to pay. The third party's requests are those of the shop, not of a replay. */
async function record(browser: Browser, shop: Shop) {
  const app = await sessionApp(`${shop.url}/api/report`, shop.token);
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, storageState: undefined });
  const sent = new Sent(app);
  try {
    const page = await context.newPage();
    await page.goto(app.url);
    for (const [i, book] of [0, 2, 5].entries()) {
      await page.locator("[data-add]").nth(book).click();
      await expect(page.locator("#n")).toHaveText(String(i + 1));
    }
    await page.getByRole("link", { name: /Basket/ }).click();
    await page.getByLabel("Name").pressSequentially("Ada Byron", { delay: 20 });
    await page.getByLabel("Password").pressSequentially("correct horse");
    await page.getByRole("button", { name: "Pay now" }).click();
    await expect(page.getByText("The payment did not work")).toBeVisible();
    // Moving the mouse until a segment after the error has been sent, and three in all.
    const before = Math.max(sent.segments.length, 1);
    await expect
      .poll(async () => {
        await page.mouse.move(200 + Math.random() * 500, 200 + Math.random() * 300, { steps: 5 });
        return sent.segments.length;
      })
      .toBeGreaterThan(before + 1);
    await page.goto("about:blank");
    // Not its end, which is sent while the page unloads: browsers may drop that request.
    await expect.poll(() => sent.session).toBeTruthy();
  } finally {
    await context.close();
    await app.stop();
  }
  expect(new Set(app.reports.map(({ status }) => status))).toEqual(new Set([200]));
  return { sent, third: app.third };
}

const recorded = (frame: Frame) =>
  frame.evaluate(() => document.querySelector("iframe")?.contentDocument?.documentElement?.textContent ?? "");

async function playerFrame(page: Page): Promise<Frame> {
  await expect.poll(() => page.frames().some((frame) => frame.url().startsWith("data:"))).toBe(true);
  return page.frames().find((frame) => frame.url().startsWith("data:"))!;
}

test("a real session is listed, played, searched by its events and watched on a phone", async ({
  page,
  shop,
  browser,
}) => {
  const { sent, third } = await record(browser, shop);
  expect(sent.segments.length).toBeGreaterThan(2);
  const before = third.seen.length;

  await page.goto(at(shop, "/sessions"));
  const row = page.getByRole("row").filter({ has: page.locator(`a[href*="${sent.session?.id}"]`) });
  await expect(row).toContainText("ada@example.com");
  await expect(row).toContainText(/Chrome \d+ on Linux/);
  await expect(row).toContainText("/basket");
  await expect(row.getByLabel("recorded")).toBeVisible();
  expect(await serious(page)).toEqual([]);
  // Every filter finds it, and its opposite does not.
  const filtered = async (search: string, count: 0 | 1) => {
    await page.goto(at(shop, `/sessions?${search}`));
    await expect(
      page.getByRole("table").or(page.getByRole("button", { name: "Clear search and filters" })),
    ).toBeVisible();
    await expect(row, search).toHaveCount(count);
  };
  for (const [found, not] of [
    ["user=ada", "user=grace"],
    ["path=/basket", "path=/account"],
    ["browser=Chrome", "browser=Firefox"],
    ["max=60", "min=300"],
    [`attr=${encodeURIComponent("plan=reader")}`, `attr=${encodeURIComponent("plan=writer")}`],
    ["errors=1", "errors=1&q=nothing"],
  ]) {
    await filtered(found, 1);
    await filtered(not, 0);
  }
  await page.getByRole("button", { name: "Clear search and filters" }).click();
  await row.getByRole("link").click();

  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Session of ada@example.com");
  const frame = await playerFrame(page);
  await expect.poll(() => recorded(frame)).toContain("Night tides");
  const slider = page.getByRole("slider", { name: "Position" });
  const seconds = async () => Number(await slider.getAttribute("aria-valuenow"));

  // Plays at eight times the speed, to the end.
  await page.getByLabel("Speed").selectOption("8");
  await page.keyboard.press("Space");
  await expect(page.getByRole("button", { name: "Play again" })).toBeVisible();
  await expect.poll(() => recorded(frame)).toContain("The payment did not work");
  expect(await seconds()).toBeGreaterThan(2);
  // What was typed is there; the password never left the browser.
  const typed = await frame.evaluate(() =>
    [...document.querySelector("iframe")!.contentDocument!.querySelectorAll("input")].map(({ value }) => value),
  );
  expect(typed[0]).toBe("Ada Byron");
  expect(JSON.stringify(sent.reports)).not.toContain("correct horse");
  expect(typed[2]).toMatch(/^\*+$/);

  // A line of the console moves the player back to its moment.
  await page.getByRole("button", { name: /added Night tides/ }).click();
  await expect.poll(() => recorded(frame)).not.toContain("The payment did not work");
  await expect.poll(() => recorded(frame)).toContain("New this week");
  await expect(page.getByRole("listitem").filter({ hasText: "added Night tides" })).toHaveAttribute(
    "aria-current",
    "true",
  );
  await expect(page).toHaveURL(/[?&]t=/);
  const kept = await seconds();

  await page.getByRole("link", { name: /^Network/ }).click();
  await expect(page.getByRole("listitem").filter({ hasText: "/api/pay" })).toContainText("502");
  await expect(page.getByRole("link", { name: "Find this request in Traces" }).first()).toBeVisible();
  await page.getByLabel("Failed").check();
  await expect(page.getByRole("list", { name: "Requests" }).getByRole("listitem")).toHaveCount(1);
  await page.getByRole("link", { name: /^Pages/ }).click();
  await expect(page.getByRole("list", { name: "Pages and actions" })).toContainText("Went to /basket");
  await expect(page.getByRole("list", { name: "Pages and actions" })).toContainText("checkout · payment_failed");
  await page.getByRole("link", { name: /^Errors/ }).click();
  await expect(page.getByRole("list", { name: "Errors" })).toContainText("TypeError: receipt is undefined");
  await page.getByRole("link", { name: /^Vitals/ }).click();
  await expect(page.getByText("Largest contentful paint")).toBeVisible();
  await expect(page.getByText("1.24 s")).toBeVisible();

  // A link opens at the same moment.
  await page.reload();
  await expect.poll(seconds).toBe(kept);
  // Keys: back and on, slower and faster.
  await page.keyboard.press("End");
  await slider.focus();
  await page.keyboard.press("Home");
  await expect.poll(seconds).toBe(0);
  await page.keyboard.press("ArrowRight");
  await expect.poll(seconds).toBeGreaterThan(1);
  await page.keyboard.press(">");
  await expect(page.getByLabel("Speed")).toHaveValue("2");
  await page.keyboard.press("<");
  await page.keyboard.press("<");
  await expect(page.getByLabel("Speed")).toHaveValue("0.5");

  // The replay asked nobody but this server.
  expect(third.seen.length).toBe(before);
  await expect(page.getByText(/1 image and 1 style sheet from other servers are not loaded/)).toBeVisible();
  await look(page, "session");
});

test("a part of the recording that cannot be loaded is named, and loaded on request", async ({
  page,
  shop,
  browser,
  problems,
}) => {
  const { sent } = await record(browser, shop);
  let isBroken = true;
  await page.route(/recording.*segment=1(?!\d)/, (route) =>
    isBroken ? route.fulfill({ status: 503, json: { error: "busy" } }) : route.fallback(),
  );
  await page.goto(at(shop, `/sessions/${sent.session?.id}`));
  const alert = page.getByRole("alert").filter({ hasText: "could not be loaded" });
  await expect(alert).toContainText(`1 part of ${sent.segments.length}`);
  await expect(page.getByText("Not recorded")).toBeVisible();
  isBroken = false;
  await alert.getByRole("button", { name: "Try again" }).click();
  await expect(alert).toHaveCount(0);
  await expect(page.getByText("Not recorded")).toHaveCount(0);
  // The browser logs the refused request.
  problems.length = 0;
});

/** Two MP4 files that this browser records of a canvas: red, then blue. As a Flutter app sends them (WIRE 1.9). */
async function films(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const film = async (colour: string) => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [180, 320];
      const context = canvas.getContext("2d")!;
      const recorder = new MediaRecorder(canvas.captureStream(10), { mimeType: "video/mp4" });
      const parts: Blob[] = [];
      recorder.ondataavailable = ({ data }) => parts.push(data);
      const done = new Promise((resume) => {
        recorder.onstop = resume;
      });
      recorder.start();
      for (let i = 0; i < 15; i++) {
        context.fillStyle = colour;
        context.fillRect(0, 0, 180, 320);
        context.fillStyle = "white";
        context.fillRect(i * 10, 100, 20, 20);
        await new Promise((resume) => setTimeout(resume, 100));
      }
      recorder.stop();
      await done;
      const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
      return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    };
    return Promise.all([film("red"), film("blue")]);
  });
}

test("the MP4 files of a Flutter app play one after the other", async ({ page, shop }) => {
  const id = "5b0e6a5c-2a7d-4f2e-9a0b-aabbccddeeff";
  await page.goto(at(shop, "/connect"));
  const [red, blue] = await films(page);
  const startedAt = "2026-03-01T09:00:00Z";
  const video = (data: string) => ({ type: "flutter_video", data, format: "mp4", fps: 10, durationSeconds: 1.5 });
  await page.route(new RegExp(`/api/sessions/${id}\\?`), (route) =>
    route.fulfill({
      json: {
        session: sessionRow({
          id,
          startedAt,
          endedAt: "2026-03-01T09:00:03Z",
          duration: 3e9,
          os: "Android",
          attributes: { "os.name": "Android", "os.version": "15" },
        }),
        segments: [{ segmentIndex: 0, startedAt, endedAt: "2026-03-01T09:00:03Z", eventBytes: 1 }],
        errors: [],
        linkedTraceIds: [],
      },
    }),
  );
  await page.route(new RegExp(`/api/sessions/${id}/recording`), (route) =>
    route.fulfill({
      json: {
        events: [video(red), video(blue)],
        startedAt,
        endedAt: "2026-03-01T09:00:03Z",
        logs: [{ type: "log", timestamp: "2026-03-01T09:00:01Z", level: "info", message: "tapped" }],
      },
    }),
  );
  await page.goto(at(shop, `/sessions/${id}`));
  await expect(page.getByText("Android 15")).toBeVisible();
  const picture = page.locator("video");
  const colour = () =>
    picture.evaluate((one: HTMLVideoElement) => {
      const canvas = document.createElement("canvas");
      const context = canvas.getContext("2d")!;
      context.drawImage(one, 0, 0, 1, 1);
      const [r, , b] = context.getImageData(0, 0, 1, 1).data;
      return r > b ? "red" : "blue";
    });
  await expect.poll(() => picture.evaluate((one: HTMLVideoElement) => one.readyState)).toBeGreaterThan(1);
  await expect.poll(colour).toBe("red");
  await page.keyboard.press("Space");
  await expect.poll(colour).toBe("blue");
  await expect(page.getByRole("button", { name: "Play again" })).toBeVisible();
  await page.getByRole("button", { name: /tapped/ }).click();
  await expect.poll(colour).toBe("red");
});

test("an app without a picture shows what it logged", async ({ page, shop }) => {
  const id = "6b0e6a5c-2a7d-4f2e-9a0b-aabbccddeeff";
  const startedAt = "2026-03-01T09:00:00Z";
  const endedAt = "2026-03-01T09:00:30Z";
  await page.route(new RegExp(`/api/sessions/${id}\\?`), (route) =>
    route.fulfill({
      json: {
        session: sessionRow({ id, startedAt, endedAt, duration: 3e10 }),
        segments: [{ segmentIndex: 0, startedAt, endedAt, eventBytes: 0 }],
        errors: [],
        linkedTraceIds: [],
      },
    }),
  );
  await page.route(new RegExp(`/api/sessions/${id}/recording`), (route) =>
    route.fulfill({
      json: {
        events: [],
        startedAt,
        endedAt,
        logs: [{ type: "log", timestamp: "2026-03-01T09:00:10Z", level: "error", message: "no network" }],
      },
    }),
  );
  await page.goto(at(shop, `/sessions/${id}`));
  await expect(page.getByRole("heading", { name: "No recording" })).toBeVisible();
  await page.getByRole("button", { name: /no network/ }).click();
  await expect(page.getByRole("slider", { name: "Position" })).toHaveAttribute("aria-valuenow", "10");
  expect(await serious(page)).toEqual([]);
});

test("the page of an issue plays the seconds before the error", async ({ page, shop, browser, problems }) => {
  const { sent } = await record(browser, shop);
  expect(sent.clip, "the SDK sends a clip with the exception").toBeTruthy();
  await page.goto(at(shop, "/issues"));
  await page
    .getByRole("row", { name: /receipt is undefined/ })
    .getByRole("link")
    .first()
    .click();
  const player = page.getByRole("region", { name: "Replay" });
  await expect(player).toBeVisible();
  const frame = await playerFrame(page);
  await expect.poll(() => recorded(frame)).toContain("Harbour Books");
  await player.getByRole("button", { name: "Play", exact: true }).click();
  await player.getByLabel("Speed").selectOption("8");
  await expect(player.getByRole("button", { name: "Play again" })).toBeVisible();
  await expect.poll(() => recorded(frame)).toContain("The payment did not work");
  await expect(player.getByText("Error", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: /^Requests/ }).click();
  await expect(page.getByRole("list", { name: "Requests" })).toContainText("/api/pay");
  await expect(page.getByRole("link", { name: "Whole session" })).toHaveAttribute(
    "href",
    new RegExp(`/sessions/${sent.session?.id}`),
  );
  // `n` and `p` are still those of the issue, and Space presses nothing while the focus is elsewhere.
  await look(page, "issue-clip", { themes: ["light"] });
  // Without a clip of its own, an event shows the parts of its session.
  await page.route(/by-id\/[^/]+\/recording/, (route) => route.fulfill({ status: 404, json: { error: "none" } }));
  await page.reload();
  await expect.poll(async () => recorded(await playerFrame(page))).toContain("Harbour Books");
  // The browser logs the request without an answer.
  problems.length = 0;
  await page.getByRole("link", { name: "Whole session" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Session of ada@example.com");
});

test("a project keeps no recordings, and the sessions of one person are deleted", async ({
  page,
  shop,
  browser,
  problems,
}) => {
  await page.goto(at(shop, "/settings"));
  const keep = page.getByRole("switch", { name: "Keep recordings" });
  await expect(keep).toBeChecked();
  await keep.click();
  await expect(page.getByText("Recordings are dropped from now on")).toBeVisible();
  const { sent } = await record(browser, shop);
  await page.goto(at(shop, `/sessions/${sent.session?.id}`));
  await expect(page.getByRole("heading", { name: "No recording" })).toBeVisible();
  await page.goto(at(shop, "/settings"));
  await keep.click();
  await expect(page.getByText("Recordings are kept from now on")).toBeVisible();

  await page.getByLabel("User id").fill("ada@example.com");
  await page.getByRole("button", { name: "Delete the sessions…" }).click();
  await page.getByRole("button", { name: "Delete for good" }).click();
  await expect(page.getByText(/^\d+ sessions? deleted$/)).toBeVisible();
  await page.goto(at(shop, "/sessions?user=ada"));
  await expect(page.getByRole("button", { name: "Clear search and filters" })).toBeVisible();
  await page.goto(at(shop, `/sessions/${sent.session?.id}`));
  await expect(page.getByRole("heading", { name: "No such session" })).toBeVisible(); // The browser logs the answer 404.
  problems.length = 0;
});
