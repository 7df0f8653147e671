// Terms of the word lists in a text, as the server finds them: words that follow each other, whole, in any case;
// whatever separates words does not matter.

export interface Piece {
  text: string;
  /** The piece is a term. */
  marked: boolean;
}

const ESCAPED = /[\\^$.*+?()[\]{}|/-]/g;
const LETTER = "[\\p{L}\\p{N}\\u0300-\\u036f]";

/** Finds any of the terms; null without terms. */
function patternOf(terms: string[]): RegExp | null {
  const words = terms.map((term) => term.split(" ").filter(Boolean)).filter((term) => term.length > 0);
  if (!words.length) return null;
  // Of terms with the same beginning, the longest.
  words.sort((one, other) => other.length - one.length);
  const each = words.map((term) => term.map((word) => word.replace(ESCAPED, "\\$&")).join(`(?:(?!${LETTER})[^])+`));
  return new RegExp(`(?<!${LETTER})(?:${each.join("|")})(?!${LETTER})`, "giu");
}

/** The text in pieces, of which some are terms. */
export function markTerms(text: string, terms: string[]): Piece[] {
  const pattern = patternOf(terms);
  if (!pattern) return [{ text, marked: false }];
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > at) pieces.push({ text: text.slice(at, match.index), marked: false });
    pieces.push({ text: match[0], marked: true });
    at = match.index + match[0].length;
  }
  if (at < text.length || !pieces.length) pieces.push({ text: text.slice(at), marked: false });
  return pieces;
}
