// Waits until a page has drawn what it requested.
import { setTimeout as after } from "node:timers/promises";
import type { Page, Request } from "@playwright/test";

/** Responses that do not end while the page is open. */
const STREAMS = ["/api/logs/tail"];
/** Pages of 10,000 rows are drawn in seconds, also beside a load. */
const SETTLED_WITHIN_MS = 60_000;

const POLL_MS = 10;

const inFlight = new WeakMap<Page, Set<Request>>();

/** Counts the page's requests while it is open. `settled` does so too, but misses those that have begun before. */
export function watchRequests(page: Page): Set<Request> {
  const known = inFlight.get(page);
  if (known) return known;
  const requests = new Set<Request>();
  inFlight.set(page, requests);
  page.on("request", (request) => {
    // The requests of a document that is left have no end.
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) requests.clear();
    // Code of the pages beside this one is loaded too, whenever the browser is idle.
    const isStream = STREAMS.includes(new URL(request.url()).pathname);
    if (!isStream && request.resourceType() !== "script") requests.add(request);
  });
  page.on("requestfinished", (request) => requests.delete(request));
  page.on("requestfailed", (request) => requests.delete(request));
  return requests;
}

/** Until the page awaits no response, its main thread is idle, no data is marked as loading, and no animation or
 * transition runs that has an end: what fades in has other colours than it will have. */
export async function settled(page: Page): Promise<void> {
  const requests = watchRequests(page);
  const deadline = Date.now() + SETTLED_WITHIN_MS;
  while (requests.size > 0 || !(await isDrawn(page)) || requests.size > 0) {
    if (Date.now() > deadline) {
      const urls = [...requests].map((request) => request.url());
      throw new Error(`${page.url()} is not settled: ${urls.join(", ") || "it is busy"}`);
    }
    await after(POLL_MS);
  }
}

/** Until no animation or transition runs that has an end. */
export async function still(page: Page): Promise<void> {
  while (await isMoving(page)) await after(POLL_MS);
}

/** Whether something moves. Each call requests a frame: without frames, Chromium may leave a transition unfinished. */
function isMoving(page: Page): Promise<boolean> {
  return page.evaluate(async () => {
    await new Promise((resume) => requestAnimationFrame(() => setTimeout(resume)));
    return document
      .getAnimations()
      .some((one) => one.playState === "running" && Number.isFinite(one.effect?.getComputedTiming().endTime));
  });
}

/** Whether the idle page has its content, and nothing of it loads or moves. */
async function isDrawn(page: Page): Promise<boolean> {
  const hasContent = () =>
    page.evaluate(async () => {
      await new Promise((resume) => requestAnimationFrame(() => setTimeout(resume)));
      await new Promise((resume) => requestIdleCallback(resume, { timeout: 2000 }));
      return !document.querySelector("[aria-busy=true]") && document.querySelector("main, h1") !== null;
    });
  try {
    return (await hasContent()) && !(await isMoving(page));
  } catch (error) {
    // Another document has taken the place of this one.
    if (String(error).includes("Execution context was destroyed")) return false;
    throw error;
  }
}
