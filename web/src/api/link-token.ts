// The secret of a mailed link (`/reset-password#token=...`). It is removed from the address and stored in this tab, so
// that no history, `Referer` or server log contains it. Links of earlier versions have it in the query or in the path.

const kept = new Map<string, string>();
const key = (page: string) => `tidewatch.link:${page}`;

/** Returns the secret in an address; null if there is none. */
export function linkTokenIn(hash: string, search: { token?: string }): string | null {
  return new URLSearchParams(hash.replace(/^#/, "")).get("token") || search.token || null;
}

/** Stores the secret for a page. It survives a reload and a sign-in that leaves this page. */
export function keepLinkToken(page: string, token: string): void {
  kept.set(page, token);
  try {
    sessionStorage.setItem(key(page), token);
  } catch {}
}

/** Returns the stored secret of a page; "" if there is none. */
export function keptLinkToken(page: string): string {
  try {
    return sessionStorage.getItem(key(page)) ?? kept.get(page) ?? "";
  } catch {
    return kept.get(page) ?? "";
  }
}

/** Deletes the stored secret after the link was used. */
export function forgetLinkToken(page: string): void {
  kept.delete(page);
  try {
    sessionStorage.removeItem(key(page));
  } catch {}
}
