// The code of the other pages, fetched once nothing else is to be done, so that the first visit of a page is as quick as
// the second.
import type { AnyRoute } from "@tanstack/react-router";
import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { NAV, NAV_LOW } from "./nav";

/** After the pages of the rail: what their rows open. */
const DETAILS = ["/p/$pid/endpoints/$name", "/p/$pid/traces/$traceId", "/p/$pid/issues/$hash"];

export function usePrefetchedPages(): void {
  const router = useRouter();
  useEffect(() => {
    const connection = (navigator as { connection?: { saveData?: boolean } }).connection;
    if (connection?.saveData) return;
    const routes = router.routesByPath as Record<string, AnyRoute>;
    const waiting = [...[...NAV, ...NAV_LOW].map((item) => item.to), ...DETAILS].flatMap((path) => routes[path] ?? []);
    let handle = 0;
    const idle: (run: () => void) => number = window.requestIdleCallback ?? ((run) => window.setTimeout(run, 1000));
    const cancel: (handle: number) => void = window.cancelIdleCallback ?? window.clearTimeout;
    // One at a time: a page that somebody opens meanwhile waits for one chunk at most. A chunk that does not come now is
    // fetched when its page opens.
    const next = () => {
      const route = waiting.shift();
      if (!route) return;
      handle = idle(() => {
        Promise.resolve(router.loadRouteChunk(route)).then(next, next);
      });
    };
    next();
    return () => {
      waiting.length = 0;
      cancel(handle);
    };
  }, [router]);
}
