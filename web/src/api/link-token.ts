// The secret of a mailed link (`/reset-password#token=...`): taken out of the address and kept in this tab, so that it is in
// no history, no `Referer` and no server's log. Links of earlier versions have it in the query or in the path.

const kept = new Map<string, string>();
const key = (page: string) => `tidewatch.link:${page}`;

/** The secret in an address; null when there is none. */
export function linkTokenIn(hash: string, search: { token?: string }): string | null {
  return new URLSearchParams(hash.replace(/^#/, "")).get("token") || search.token || null;
}

/** Keeps it for a page, over a reload and over a sign-in that leaves this page. */
export function keepLinkToken(page: string, token: string): void {
  kept.set(page, token);
  try {
    sessionStorage.setItem(key(page), token);
  } catch {}
}

/** What was kept for a page; "" when nothing was. */
export function keptLinkToken(page: string): string {
  try {
    return sessionStorage.getItem(key(page)) ?? kept.get(page) ?? "";
  } catch {
    return kept.get(page) ?? "";
  }
}

/** The link was used. */
export function forgetLinkToken(page: string): void {
  kept.delete(page);
  try {
    sessionStorage.removeItem(key(page));
  } catch {}
}
