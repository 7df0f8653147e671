// Whether this browser is signed in. The session itself is a cookie that no script can read (HttpOnly, SameSite=Strict);
// kept here is only that there is one, so that pages know without asking. Of the user, nothing but the chosen theme.

const KEY = "tidewatch.signed-in";
/** Held the session before it was a cookie. */
const OLD = "tidewatch.token";

export function hasSession(): boolean {
  try {
    return localStorage.getItem(KEY) !== null;
  } catch {
    return false;
  }
}

export function keepSession(): void {
  localStorage.setItem(KEY, "1");
  localStorage.removeItem(OLD);
}

/** Forgets it. The cookie ends with `signOut` (account-me.ts), or has ended already. */
export function endSession(): void {
  localStorage.removeItem(KEY);
  localStorage.removeItem(OLD);
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

/** Before leaving: where to go afterwards. */
export function rememberStart(next: string): void {
  try {
    sessionStorage.setItem(STARTED, next);
  } catch {}
}

/** What was remembered; null when this tab started no sign-in. */
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
