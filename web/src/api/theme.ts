// Theme that this browser keeps: light, dark or the system's. /theme.js reads the same key before the first paint.

export type ThemeChoice = "light" | "dark" | "system";
const KEY = "tidewatch.theme";
const listeners = new Set<() => void>();
const system = matchMedia("(prefers-color-scheme: dark)");

export function themeChoice(): ThemeChoice {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

/** The effective theme. */
export function currentTheme(): "light" | "dark" {
  return document.documentElement.dataset.theme === "dark" ? "dark" : "light";
}

function apply(): void {
  const chosen = themeChoice();
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

/** Calls `listener` after every change, until the returned function is called. */
export function onThemeChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
