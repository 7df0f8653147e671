// Secrets on the screen: what stands for them until they are asked for.

/** The first characters tell tokens apart; the dots do not say how long the rest is. */
export function masked(secret: string): string {
  return `${secret.slice(0, 4)}${"•".repeat(16)}`;
}

/** Text with each occurrence of the secret masked. */
export function maskIn(text: string, secret: string | undefined): string {
  return secret ? text.replaceAll(secret, masked(secret)) : text;
}

/** The other way round: text that was copied by hand out of a masked one. */
export function unmaskIn(text: string, secret: string | undefined): string {
  return secret ? text.replaceAll(masked(secret), secret) : text;
}
