// The test of every spec: when it fails, what its servers logged meanwhile is stored beside its screenshot and its trace.
import { writeFile } from "node:fs/promises";
import { type Browser, test as playwright } from "@playwright/test";
import { shiftClock } from "./clock.ts";
import { NOT_DONE } from "./report.ts";
import { forgetEndedServers, serverLogs } from "./server.ts";

export const test = playwright.extend<{ storedServerLogs: undefined }, { browser: Browser }>({
  browser: [
    async ({ browser }, use) => {
      shiftClock(browser);
      await use(browser);
    },
    { scope: "worker" },
  ],
  storedServerLogs: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the parameter's shape
    async ({}, use, info) => {
      forgetEndedServers();
      await use(undefined);
      if (info.status === info.expectedStatus) return;
      for (const [index, log] of serverLogs().entries()) {
        const path = info.outputPath(`server-${index + 1}.log`);
        await writeFile(path, log);
        info.attachments.push({ name: `server-${index + 1}.log`, path, contentType: "text/plain" });
      }
    },
    { auto: true },
  ],
});

/** Counts something that this run did not check among the last lines of the run, with the reason. */
export function notDone(what: string, why: string): void {
  test.info().annotations.push({ type: NOT_DONE, description: `${what}: ${why}` });
}

export { expect } from "@playwright/test";
