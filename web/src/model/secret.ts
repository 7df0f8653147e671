// Masking of secrets on the screen.

/** The first characters distinguish tokens; the number of dots does not depend on the length. */
export function masked(secret: string): string {
  return `${secret.slice(0, 4)}${"•".repeat(16)}`;
}

/** Masks each occurrence of the secret in `text`. */
export function maskIn(text: string, secret: string | undefined): string {
  return secret ? text.replaceAll(secret, masked(secret)) : text;
}

/** Inverse, for text that the user copied from a masked text. */
export function unmaskIn(text: string, secret: string | undefined): string {
  return secret ? text.replaceAll(masked(secret), secret) : text;
}
