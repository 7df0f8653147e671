// The user code that a device shows (RFC 8628): eight letters or digits, written XXXX-XXXX, accepted in any case.

/** "abcd efgh" -> "ABCD-EFGH"; also formats incomplete input. */
export function userCode(text: string): string {
  const plain = text
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, "")
    .slice(0, 8);
  return plain.length > 4 ? `${plain.slice(0, 4)}-${plain.slice(4)}` : plain;
}

export function isUserCode(text: string): boolean {
  return /^[A-Z0-9]{4}-[A-Z0-9]{4}$/.test(text);
}
