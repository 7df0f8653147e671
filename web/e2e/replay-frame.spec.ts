// A recording is text from outside. It cannot run code, reach a network, leave its frame or freeze the page around it.
// The real server serves the page and the frame with their policies; the recordings are given here.
import type { Page } from "@playwright/test";
import { at, expect, type Shop, test } from "./support/fixtures.ts";
import { element, enormous, hostile, LENGTH_MS, recording, START_MS, words } from "./support/recordings.ts";
import { addSegment, hostRecording, playerFrame, received, recordedWords, send } from "./support/replay-host.ts";
import { type ThirdParty, thirdParty } from "./support/third-party.ts";

let evil: ThirdParty;
test.beforeAll(async () => {
  evil = await thirdParty();
});
test.afterAll(() => evil.stop());
test.beforeEach(() => {
  evil.seen.length = 0;
});

/** Plays the recording on a page of the server. Returns the addresses of all requests that leave the server. */
async function open(page: Page, shop: Shop, json: string): Promise<string[]> {
  const outside: string[] = [];
  await page.goto(at(shop, "/settings"));
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  page.on("request", (request) => {
    if (!request.url().startsWith(shop.url) && !request.url().startsWith("data:")) outside.push(request.url());
  });
  await hostRecording(page, json, START_MS, LENGTH_MS);
  return outside;
}

test("a hostile recording runs nothing, loads nothing and covers nothing", async ({ page, shop }) => {
  page.on("dialog", () => {
    throw new Error("the recording opened a dialog");
  });
  const outside = await open(page, shop, JSON.stringify(hostile(evil.url)));
  const address = page.url();
  const frame = await playerFrame(page);
  await expect.poll(() => recordedWords(frame)).toContain("YOUR SESSION HAS EXPIRED");
  await send(page, { kind: "speed", value: 8 });
  await send(page, { kind: "play" });
  await expect.poll(() => received(page, "ended")).toBeTruthy();

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
  expect(page.url()).toBe(address);
  expect(page.context().pages()).toHaveLength(1);
  const title = page.getByRole("heading", { level: 1 });
  await expect(title).toHaveText("Settings");
  const hit = await title.evaluate((one) => {
    const box = one.getBoundingClientRect();
    return document.elementFromPoint(box.x + 20, box.y + 8)?.tagName;
  });
  expect(hit).toBe("H1");
});

// The walls hold by themselves: here the recording is written into the frame without being cleaned.
test("without the cleaning, the frame and its policy still hold", async ({ page, shop, problems }) => {
  await open(page, shop, JSON.stringify(recording([], [words("a page")])));
  const frame = await playerFrame(page);
  await expect.poll(() => recordedWords(frame)).toContain("a page");
  const attempts = await frame.evaluate(async (evil) => {
    const outcome = async (run: () => unknown) => {
      try {
        await run();
        return "allowed";
      } catch (error) {
        return (error as Error).name;
      }
    };
    const recorded = document.querySelector("iframe")!.contentDocument!;
    const result = {
      page: await outcome(() => parent.parent.document),
      outer: await outcome(() => parent.document),
      cookies: await outcome(() => document.cookie),
      storage: await outcome(() => localStorage.length),
      fetch: await outcome(() => fetch(`${evil}/fetch`)),
      own: await outcome(() => fetch("/api/me")),
      socket: await outcome(
        () =>
          new Promise((_, fail) => {
            new WebSocket(evil.replace("http", "ws")).onerror = () => fail(new TypeError());
          }),
      ),
      evaluation: await outcome(() => new Function("return 1")()),
      popup: window.open(`${evil}/popup`) === null,
      beacon: navigator.sendBeacon(`${evil}/beacon`),
    };
    // The browser reports each kind of request that the policy refuses.
    const kinds = new Set(["img-src", "style-src-elem", "media-src", "font-src", "frame-src", "object-src"]);
    const refused = new Promise((resume) => {
      recorded.addEventListener("securitypolicyviolation", (event) => {
        kinds.delete(event.effectiveDirective);
        if (kinds.size === 0) resume(null);
      });
    });
    recorded.body.innerHTML = `<img src="${evil}/image" onerror="top.__pwned=1"><img src=x onerror="window.__pwned=1">
      <form action="${evil}/form"><button id="send">x</button></form><a id="go" href="${evil}/link" target="_top">x</a>
      <a id="js" href="javascript:window.__pwned=1">x</a><iframe src="${evil}/frame"></iframe><object data="${evil}/object"></object>
      <style>@import "${evil}/import";body{background:url(${evil}/background)}@font-face{font-family:e;src:url(${evil}/font)}p{font-family:e}</style><p>e</p>
      <meta http-equiv="refresh" content="0;url=${evil}/refresh"><link rel="stylesheet" href="${evil}/sheet">
      <video src="${evil}/video" autoplay></video>`;
    const script = recorded.createElement("script");
    script.textContent = "window.__pwned=1";
    recorded.body.append(script);
    for (const id of ["send", "go", "js"]) recorded.getElementById(id)!.click();
    const own = document.createElement("script");
    own.textContent = "window.__pwned=1";
    document.body.append(own);
    await outcome(() => {
      (top as Window).location.href = `${evil}/top`;
    });
    await refused;
    return {
      ...result,
      pwned: "__pwned" in window || "__pwned" in (document.querySelector("iframe")!.contentWindow ?? {}),
    };
  }, evil.url);
  expect(attempts).toEqual({
    page: "SecurityError",
    outer: "SecurityError",
    cookies: "SecurityError",
    storage: "SecurityError",
    fetch: "TypeError",
    own: "TypeError",
    socket: expect.stringMatching(/TypeError|SecurityError/),
    evaluation: "EvalError",
    popup: true,
    beacon: expect.any(Boolean),
    pwned: false,
  });
  expect(evil.seen).toEqual([]);
  expect(page.url()).toContain("/settings");
  expect(await page.evaluate(() => "__pwned" in window)).toBe(false);
  // The browser reports what the policy blocked.
  await expect.poll(() => problems.length).toBeGreaterThan(5);
  problems.length = 0;
});

test("the start shows the first picture, also when a later segment came first and after the end", async ({
  page,
  shop,
}) => {
  const said = (text: string, at: number) => {
    const { events } = recording([], [element("p", {}, [words(text)])]);
    const ofSegment = events.filter((event) => event.timestamp - START_MS + at <= LENGTH_MS);
    return JSON.stringify({ events: ofSegment.map((event) => ({ ...event, timestamp: event.timestamp + at })) });
  };
  await open(page, shop, said("the basket", 12_000));
  const frame = await playerFrame(page);
  await expect.poll(() => recordedWords(frame)).toContain("the basket");
  await addSegment(page, 1, said("the shelf", 300));
  await expect.poll(() => recordedWords(frame)).toContain("the shelf");
  expect(await recordedWords(frame)).not.toContain("the basket");

  await send(page, { kind: "seek", at: LENGTH_MS });
  await expect.poll(() => recordedWords(frame)).toContain("the basket");
  await send(page, { kind: "seek", at: 0 });
  await expect.poll(() => recordedWords(frame)).toContain("the shelf");
});

test("an enormous recording is cut", async ({ page, shop }) => {
  await open(page, shop, enormous(20_000, 200_000));
  expect(await received(page, "added")).toMatchObject({ isCut: true });
  const frame = await playerFrame(page);
  const size = () =>
    frame.evaluate(() => document.querySelector("iframe")!.contentDocument!.querySelectorAll("*").length);
  await expect.poll(size).toBeGreaterThan(50_000);
  expect(await size()).toBeLessThan(61_000);
  // The page around it still answers.
  await page.getByRole("link", { name: "Symbols" }).click();
  await expect(page).toHaveURL(/symbols/);
});

test("only this server's pages may frame the player, and its policy names its one script", async ({
  request,
  shop,
}) => {
  const answer = await request.get(`${shop.url}/replay-frame.html`);
  expect(answer.status()).toBe(200);
  const policy = answer.headers()["content-security-policy"];
  expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[A-Za-z0-9+/]{43}='; /);
  expect(policy).toContain("frame-ancestors 'self'");
  expect(policy).not.toMatch(/https?:|\*|connect-src|unsafe-eval/);
  expect(answer.headers()["x-frame-options"]).toBe("SAMEORIGIN");
});
