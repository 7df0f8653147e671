// Where the focus goes when another page opens: to its heading, or to what the page marks with data-landing.
import { useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

const LANDING = "main [data-landing]";

/**
 * A page's code and data may come later than its address, so this waits until there is something to land on, or until the
 * reader does something else. A page that is opened from outside keeps the browser's own start, so that the skip link
 * comes first, unless it marks a landing.
 */
export function useLanding(onMove?: () => void): void {
  // Of the page that is shown, not of the one that is still loading.
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname });
  const moved = useRef(onMove);
  moved.current = onMove;
  const before = useRef<string>(undefined);
  useEffect(() => {
    if (path === undefined) return;
    const isFirst = before.current === undefined;
    before.current = path;
    if (!isFirst) {
      moved.current?.();
      document.getElementById("main")?.scrollTo(0, 0);
    }
    return land(isFirst ? LANDING : `${LANDING}, main h1`);
  }, [path]);
}

/** Focuses the first match, a marked landing before a heading; gives back how to stop waiting for it. */
function land(selector: string): () => void {
  const find = () => document.querySelector<HTMLElement>(LANDING) ?? document.querySelector<HTMLElement>(selector);
  const look = () => {
    const target = find();
    if (!target) return;
    stop();
    target.focus({ preventScroll: true });
  };
  const observer = new MutationObserver(look);
  const stop = () => {
    observer.disconnect();
    removeEventListener("keydown", stop, true);
    removeEventListener("pointerdown", stop, true);
  };
  observer.observe(document.body, { childList: true, subtree: true });
  addEventListener("keydown", stop, true);
  addEventListener("pointerdown", stop, true);
  look();
  return stop;
}
