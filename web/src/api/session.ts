// The signed-in session: a JWT in localStorage, sent as Bearer. Nothing else about the user is kept in the browser.

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
