// Where a link may send someone after signing in. Only pages of this site: everything else would be an open redirect.

/** The path when it is one of this site: a single leading slash, nothing a browser would read as another host. */
export function safePath(text: string | null | undefined): string | null {
  if (!text || !/^\/(?![/\\])/.test(text)) return null;
  // Browsers drop tabs and line ends, so "/\t/host" would become "//host"; the rest has no place in an address.
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
 * Where the server sends the browser after consent, when it is the address that the page showed: same scheme, host and
 * path as `asked`, only the query may be longer. Null otherwise.
 */
export function consentTarget(target: string, asked: string): string | null {
  try {
    const to = new URL(target);
    const from = new URL(asked);
    if (NEVER.has(to.protocol)) return null;
    return to.protocol === from.protocol && to.host === from.host && to.pathname === from.pathname ? to.href : null;
  } catch {
    return null;
  }
}
