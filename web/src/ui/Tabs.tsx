import { useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";

/** A row of links styled as tabs; each tab has a URL. `render` wraps the label in a Link. */
export function TabRow({ label, children }: { label: string; children: ReactNode }) {
  const row = useRef<HTMLElement>(null);
  const address = useLocation({ select: (location) => location.href });
  // On phones the row scrolls horizontally: scrolls the open tab into view, without scrolling the page vertically.
  useEffect(() => {
    const open = row.current?.querySelector<HTMLElement>("[aria-current=page]");
    if (!row.current || !open) return;
    row.current.scrollLeft += open.getBoundingClientRect().right - row.current.getBoundingClientRect().right;
  }, [address]);
  return (
    <nav ref={row} aria-label={label} className="flex gap-1 overflow-x-auto border-line border-b">
      {children}
    </nav>
  );
}

export const TAB =
  "-mb-px inline-flex h-9 items-center gap-1.5 whitespace-nowrap border-b-2 px-2.5 font-medium border-transparent text-ink2 hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink";
