import { defineConfig } from "@playwright/test";
import { CHROMIUM } from "./e2e/support/chromium.ts";
import { browserEnvironment } from "./e2e/support/clock.ts";

// The tests start the real server (TIDEWATCH_BIN), one per worker, on a free port with an empty data folder.
export default defineConfig({
  testDir: "e2e",
  // What a failed test leaves: its screenshot, its trace and the log of its servers. The last line of a run names it.
  outputDir: process.env.TIDEWATCH_TEST_RESULTS
    ? `${process.env.TIDEWATCH_TEST_RESULTS}/browser/failed`
    : "test-results/failed",
  preserveOutput: "failures-only",
  workers: 2,
  // Ample for a machine that does much else: a check that works does not wait for it.
  timeout: 180_000,
  expect: { timeout: 20_000 },
  forbidOnly: !!process.env.CI,
  reporter: [["list"], ["./e2e/support/report.ts"]],
  use: {
    viewport: { width: 1440, height: 900 },
    locale: "en-GB",
    timezoneId: process.env.TEST_ZONE ?? "UTC",
    // Without snapshots of the page before and after each action: they took a third of the time. A failed test stores the
    // page as it was at the end.
    trace: { mode: "retain-on-failure", screenshots: false, snapshots: false, sources: false },
    screenshot: "only-on-failure",
    launchOptions: {
      env: browserEnvironment(),
      executablePath: CHROMIUM,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});
