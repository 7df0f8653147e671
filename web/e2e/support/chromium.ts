// The browser of the tests.
import { existsSync } from "node:fs";

/** Chromium without its user interface, which uses less of the processors. */
const HEADLESS_SHELL = "/usr/bin/chromium-headless-shell";

export const CHROMIUM = process.env.CHROMIUM ?? (existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : "/usr/bin/chromium");
