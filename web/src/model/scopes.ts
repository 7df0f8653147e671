// What tokens may do (docs/accounts.md, "Scopes"): each scope contains those before it.

export const SCOPES = ["read", "write", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

const WORDS: Record<Scope, string> = {
  read: "Read",
  write: "Read and change",
  admin: "Read, change and administer",
};

/** The highest scope in OAuth's `scope`; without a known one, what clients without scopes get. */
export function askedScope(text: string | undefined): Scope {
  const words = (text ?? "").split(" ");
  return SCOPES.findLast((scope) => words.includes(scope)) ?? "write";
}

/** This scope and those it contains. */
export function contained(scope: Scope): Scope[] {
  return SCOPES.slice(0, SCOPES.indexOf(scope) + 1);
}

export function scopeWords(scopes: readonly Scope[]): string {
  const highest = SCOPES.findLast((scope) => scopes.includes(scope));
  return highest ? WORDS[highest] : "Nothing";
}

/** For a choice of what to allow: `scope` and less. */
export function scopeOptions(scope: Scope): { value: Scope; label: string }[] {
  return contained(scope).map((value) => ({ value, label: WORDS[value] }));
}
