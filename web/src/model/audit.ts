// Rows of the audit log in words.

/** "member.role_changed" -> "Member: role changed". Unknown actions read well too. */
export function actionWords(action: string): string {
  const [subject, ...rest] = action.split(/[.:]/);
  const words = (text: string) => text.replace(/[_-]+/g, " ").trim();
  const first = words(subject);
  const head = first ? first[0].toUpperCase() + first.slice(1) : "–";
  return rest.length ? `${head}: ${words(rest.join(" "))}` : head;
}

/** A value of the log's detail as one line of text; objects as JSON, never more than `charactersMax`. */
export function plainValue(value: unknown, charactersMax = 300): string {
  if (value === null || value === undefined || value === "") return "–";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
}

/** What was changed: a plain text, or the name, e-mail or id inside an object. */
export function targetWords(target: unknown): string {
  if (typeof target !== "object" || target === null) return plainValue(target);
  const of = target as Record<string, unknown>;
  return plainValue(of.name ?? of.email ?? of.id ?? target);
}
