// Single-key shortcuts. Inactive while the user types, while a dialog is open, or when turned off (WCAG 2.1.4).
import { useEffect, useRef } from "react";

const OFF_KEY = "tidewatch.shortcuts";

export function shortcutsOn(): boolean {
  return localStorage.getItem(OFF_KEY) !== "off";
}
export function setShortcuts(on: boolean): void {
  if (on) localStorage.removeItem(OFF_KEY);
  else localStorage.setItem(OFF_KEY, "off");
}

export function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  return !!target?.closest?.("input, textarea, select, [contenteditable=true], [role=dialog], [role=menu]");
}

export type KeyMap = Record<string, (event: KeyboardEvent) => void>;

/** Keys are `event.key` values; "g e" is a two-key sequence. */
export function useKeys(map: KeyMap): void {
  const current = useRef(map);
  current.current = map;
  useEffect(() => {
    let first = "";
    let firstAt = 0;
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || isTyping(event) || !shortcutsOn())
        return;
      const pair = first && Date.now() - firstAt < 1500 ? `${first} ${event.key}` : "";
      const run = (pair && current.current[pair]) || current.current[event.key];
      const starts = Object.keys(current.current).some((key) => key.startsWith(`${event.key} `));
      first = !pair && starts ? event.key : "";
      firstAt = Date.now();
      if (!run) return;
      event.preventDefault();
      run(event);
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
}

/** j and k move the focus over the rows of the page's tables. */
export function moveRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main [data-row-link]:not([data-drawer] *)")];
  if (!rows.length) return;
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + step));
  rows[next].focus();
  rows[next].scrollIntoView({ block: "nearest" });
}
