// Scopes of tokens (docs/operate/accounts.md, "Scopes"). Each scope contains the scopes before it.

export const SCOPES = ["read", "write", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

const WORDS: Record<Scope, string> = {
  read: "Read",
  write: "Read and change",
  admin: "Read, change and administer",
};

/** The highest known scope in OAuth's `scope`; the default of clients without scopes if there is none. */
export function requestedScope(text: string | undefined): Scope {
  const words = (text ?? "").split(" ");
  return SCOPES.findLast((scope) => words.includes(scope)) ?? "write";
}

/** The scope and the scopes that it contains. */
export function contained(scope: Scope): Scope[] {
  return SCOPES.slice(0, SCOPES.indexOf(scope) + 1);
}

export function scopeWords(scopes: readonly Scope[]): string {
  const highest = SCOPES.findLast((scope) => scopes.includes(scope));
  return highest ? WORDS[highest] : "Nothing";
}

/** Options of a select: `scope` and the scopes that it contains. */
export function scopeOptions(scope: Scope): { value: Scope; label: string }[] {
  return contained(scope).map((value) => ({ value, label: WORDS[value] }));
}
