// What went wrong, for the person in front of the form.

/** First letter upper, full stop at the end. */
export function sentence(text: string): string {
  const first = text ? text[0].toUpperCase() + text.slice(1) : "Something went wrong";
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

/** An error with a status, as the client throws it; status 0: no answer came. */
interface Failure {
  status?: number;
  message: string;
}

/** `own`: better words of the page for a status. The server's sentence otherwise. */
export function problemWords(error: Failure, own: Record<number, string> = {}): string {
  const status = error.status ?? 0;
  if (own[status]) return own[status];
  if (status === 429) return "Too many tries from this address. The button works again when the countdown ends.";
  if (status === 403) return `${sentence(error.message)} If you need it, ask an owner or admin of the organisation.`;
  return sentence(error.message);
}
