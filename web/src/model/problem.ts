// Error messages of forms.

/** Capitalizes the first letter and adds a full stop. */
export function sentence(text: string): string {
  const first = text ? text[0].toUpperCase() + text.slice(1) : "Something went wrong";
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

/** An error of the HTTP client; status 0 means that there was no response. */
interface Failure {
  status?: number;
  message: string;
}

/** Returns the page's message for the status if `own` has one, otherwise the server's message. */
export function problemWords(error: Failure, own: Record<number, string> = {}): string {
  const status = error.status ?? 0;
  if (own[status]) return own[status];
  if (status === 429) return "Too many tries from this address. The button works again when the countdown ends.";
  if (status === 403) return `${sentence(error.message)} If you need it, ask an owner or admin of the organization.`;
  return sentence(error.message);
}
