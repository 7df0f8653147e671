// Runs at another time of day or year: libfaketime shifts the clocks of this process and of the servers that it starts.
//
//     LD_PRELOAD=…/libfaketime.so.1 FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME=+86400 npm run e2e
//
// Chromium does not start with it, so its pages get a shifted `Date`.
import type { Browser } from "@playwright/test";

/** Seconds that the clock is ahead. */
const SHIFT_SECONDS = Number(/^\+(\d+)$/.exec(process.env.FAKETIME ?? "")?.[1] ?? 0);

/** Environment of the browser. */
export function browserEnvironment(): Record<string, string> {
  const { LD_PRELOAD, FAKETIME, ...rest } = process.env as Record<string, string>;
  return SHIFT_SECONDS ? rest : { ...rest, ...(LD_PRELOAD && { LD_PRELOAD }), ...(FAKETIME && { FAKETIME }) };
}

/** Shifts the clock of every page that the browser opens. */
export function shiftClock(browser: Browser): void {
  if (!SHIFT_SECONDS) return;
  const open = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await open(options);
    await context.addInitScript((shiftMs) => {
      const RealDate = Date;
      const now = () => RealDate.now() + shiftMs;
      globalThis.Date = new Proxy(RealDate, {
        construct: (target, given) => Reflect.construct(target, given.length ? given : [now()]),
        apply: () => new RealDate(now()).toString(),
        get: (target, key) => (key === "now" ? now : Reflect.get(target, key)),
      });
    }, SHIFT_SECONDS * 1000);
    return context;
  };
}
