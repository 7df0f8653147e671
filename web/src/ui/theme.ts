// Theme: light, dark or the system's. /theme.js reads the same key before the first paint.
import { useEffect, useSyncExternalStore } from "react";

export type ThemeChoice = "light" | "dark" | "system";
const KEY = "tidewatch.theme";
const listeners = new Set<() => void>();
const system = matchMedia("(prefers-color-scheme: dark)");

function choice(): ThemeChoice {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

function apply(): void {
  const chosen = choice();
  const dark = chosen === "dark" || (chosen === "system" && system.matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  for (const listener of listeners) listener();
}
system.addEventListener("change", apply);

export function setTheme(next: ThemeChoice): void {
  if (next === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, next);
  apply();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore(subscribe, choice);
}

/** The effective theme. Canvases redraw when it changes. */
export function useTheme(): "light" | "dark" {
  return useSyncExternalStore(subscribe, () => (document.documentElement.dataset.theme === "dark" ? "dark" : "light"));
}

/** Value of a CSS colour variable, for canvases. */
export function cssColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · Tidewatch` : "Tidewatch";
  }, [title]);
}
