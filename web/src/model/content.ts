// Splits model output into pieces of text and code. It is never rendered as HTML, so it cannot run scripts.

export interface Piece {
  kind: "text" | "code";
  text: string;
  language: string;
}

export function splitFences(text: string): Piece[] {
  const pieces: Piece[] = [];
  const fence = /(^|\n)```([\w+-]*)[^\n]*\n([\s\S]*?)(?:\n```(?=\n|$)|$)/g;
  let at = 0;
  for (let match = fence.exec(text); match; match = fence.exec(text)) {
    if (match.index > at) pieces.push({ kind: "text", text: text.slice(at, match.index), language: "" });
    pieces.push({ kind: "code", text: match[3], language: match[2] });
    at = match.index + match[0].length;
  }
  if (at < text.length) pieces.push({ kind: "text", text: text.slice(at), language: "" });
  return pieces.filter((piece) => piece.text.trim() !== "");
}

/** Returns JSON indented, any other text unchanged. */
export function prettyJson(text: string): string {
  if (!/^\s*[[{]/.test(text) || text.length > 500_000) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Truncates text to at most `most` characters. */
export function cut(text: string, most: number): { shown: string; hidden: number } {
  return text.length <= most ? { shown: text, hidden: 0 } : { shown: text.slice(0, most), hidden: text.length - most };
}
