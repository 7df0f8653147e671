// Focus management: navigation focuses the element with data-landing, or else the heading of the new page.
import { useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

const LANDING = "main [data-landing]";

/**
 * Waits for the target, because a page's code and data load after its address changes, until the user presses a key or
 * the pointer. On the first page the browser's focus is kept, so that the skip link is first, unless the page has a
 * data-landing element.
 */
export function useLanding(onMove?: () => void): void {
  // Path of the displayed page, not of the page that is loading.
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

/** Focuses the first match once it exists, data-landing before a heading. Returns a function that cancels. */
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
