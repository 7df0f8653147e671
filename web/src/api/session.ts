// The signed-in session: a JWT in localStorage, sent as Bearer. Of the user, nothing else is kept but the chosen theme.

const KEY = "tidewatch.token";

export function sessionToken(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function keepSession(token: string): void {
  localStorage.setItem(KEY, token);
}

export function endSession(): void {
  localStorage.removeItem(KEY);
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
