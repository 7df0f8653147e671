// Applies the account's preferences to this browser: time zone and theme.
import { setTimeZone } from "../model/time";
import type { User } from "./account-types";
import { setTheme } from "./theme";

export function applyPreferences(user: User): void {
  setTimeZone(user.timezone);
  if (user.theme) setTheme(user.theme);
}
