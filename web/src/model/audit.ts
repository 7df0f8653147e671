// Display strings of audit log rows.

/** "member.role_changed" -> "Member: role changed". Works for unknown actions too. */
export function actionWords(action: string): string {
  const [subject, ...rest] = action.split(/[.:]/);
  const words = (text: string) => text.replace(/[_-]+/g, " ").trim();
  const first = words(subject);
  const head = first ? first[0].toUpperCase() + first.slice(1) : "–";
  return rest.length ? `${head}: ${words(rest.join(" "))}` : head;
}

/** Formats a detail value as one line of at most `charactersMax` characters; objects as JSON. */
export function plainValue(value: unknown, charactersMax = 300): string {
  if (value === null || value === undefined || value === "") return "–";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
}

/** Formats the changed object: a plain value, or the name, e-mail or id of an object. */
export function targetWords(target: unknown): string {
  if (typeof target !== "object" || target === null) return plainValue(target);
  const of = target as Record<string, unknown>;
  return plainValue(of.name ?? of.email ?? of.id ?? target);
}
