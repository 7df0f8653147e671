// Whether this browser is signed in. The session is a cookie that scripts cannot read (HttpOnly, SameSite=Strict).
// Local storage holds only a flag that it exists, so that pages need no request, and no user data except the theme.

const KEY = "tidewatch.signed-in";
/** Key that held the session before it was a cookie. */
const LEGACY_KEY = "tidewatch.token";

export function hasSession(): boolean {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    return false;
  }
}

export function keepSession(): void {
  localStorage.setItem(KEY, "1");
  localStorage.removeItem(LEGACY_KEY);
}

/** Clears the flag. The cookie is ended by `signOut` (account-me.ts) or has expired already. */
export function endSession(): void {
  localStorage.removeItem(KEY);
  localStorage.removeItem(LEGACY_KEY);
}

const LAST_PROJECT = "tidewatch.project";

export function lastProject(): string | null {
  return localStorage.getItem(LAST_PROJECT);
}

export function rememberProject(id: string): void {
  localStorage.setItem(LAST_PROJECT, id);
}

// A sign-in through a provider leaves this page and comes back to /auth/callback in the same tab.
const STARTED = "tidewatch.sign-in";

/** Stores the path to open after the sign-in. Called before this page is left. */
export function rememberStart(next: string): void {
  try {
    sessionStorage.setItem(STARTED, next);
  } catch {}
}

/** Returns the stored path; null if this tab started no sign-in. */
export function startedFrom(): string | null {
  try {
    return sessionStorage.getItem(STARTED);
  } catch {
    return null;
  }
}

export function forgetStart(): void {
  try {
    sessionStorage.removeItem(STARTED);
  } catch {}
}
