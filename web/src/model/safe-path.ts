// Validates redirect targets after sign-in. Only paths of this site are allowed; others would be open redirects.

/** Returns the path if it is on this site (a single leading slash, not parsed as another host), otherwise null. */
export function safePath(text: string | null | undefined): string | null {
  if (!text || !/^\/(?![/\\])/.test(text)) return null;
  // Browsers remove tabs and line ends, so "/\t/host" would become "//host". The others are invalid in a URL.
  for (const char of text) if (char <= " " || char === "\\" || char === "\u007f") return null;
  const here = "https://here.invalid";
  try {
    const url = new URL(text, here);
    return url.origin === here && url.pathname.startsWith("/") && !url.pathname.startsWith("//") ? text : null;
  } catch {
    return null;
  }
}

const NEVER = new Set(["javascript:", "data:", "vbscript:", "blob:", "file:", "about:"]);

/**
 * Returns the redirect target after consent if its scheme, host and path equal those of `shown`, the address that the
 * page displayed; the query may differ. Null otherwise.
 */
export function consentTarget(target: string, shown: string): string | null {
  try {
    const to = new URL(target);
    const from = new URL(shown);
    if (NEVER.has(to.protocol)) return null;
    return to.protocol === from.protocol && to.host === from.host && to.pathname === from.pathname ? to.href : null;
  } catch {
    return null;
  }
}
