// Prefetches the code of the other pages while the browser is idle, so that the first visit of a page is fast.
import type { AnyRoute } from "@tanstack/react-router";
import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { NAV, NAV_LOW } from "./nav";

/** Detail pages, prefetched after the pages of the rail. */
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
    // One at a time, so that a page opened meanwhile waits for at most one chunk. A failed chunk is fetched again when
    // its page opens.
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
