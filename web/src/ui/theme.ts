// Theme, colours and title of the document, for components.
import { useEffect, useSyncExternalStore } from "react";
import { currentTheme, onThemeChange, type ThemeChoice, themeChoice } from "../api/theme";

export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore(onThemeChange, themeChoice);
}

/** The effective theme. Canvases redraw when it changes. */
export function useTheme(): "light" | "dark" {
  return useSyncExternalStore(onThemeChange, currentTheme);
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
