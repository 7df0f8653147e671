// Removes the addresses of a recorded style sheet. The frame's policy blocks every load as well; this keeps the browser
// from trying, and counts what is missing from the picture.
import type { NotLoaded } from "./protocol";

/** Longest style sheet that is played, in characters. */
export const CSS_CHARS_MAX = 4_000_000;

const HOLE = 'url("data:,")';

/** The style sheet with `data:` images, `data:` fonts and fragments (`#id`) as its only addresses. */
export function cleanCss(text: string, lost: NotLoaded): string {
  if (text.length > CSS_CHARS_MAX) {
    lost.styles++;
    return "";
  }
  if (!/url|@import|image-set|src\s*\(|\\/i.test(text)) return text;
  return withoutUrls(withoutImageSets(withoutImports(plainLetters(text), lost), lost), lost);
}

/** Letters that are written as escapes (`u\72l`) become letters. An escaped letter means the letter everywhere in CSS. */
function plainLetters(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(
    /\\(?:([0-9a-f]{1,6})(?:\r\n|[ \t\r\n\f])?|([g-z]))/gi,
    (whole, hex?: string, letter?: string) => {
      if (letter) return letter;
      const character = String.fromCodePoint(Math.min(Number.parseInt(hex ?? "0", 16), 0x10ffff));
      return /^[a-z]$/i.test(character) ? character : whole;
    },
  );
}

function withoutImports(text: string, lost: NotLoaded): string {
  const word = /@import/gi;
  let out = "";
  let from = 0;
  for (let match = word.exec(text); match; match = word.exec(text)) {
    out += text.slice(from, match.index);
    from = endOfStatement(text, word.lastIndex);
    word.lastIndex = from;
    lost.styles++;
  }
  return out + text.slice(from);
}

/** The position after the `;` that ends a statement; the end of the text without one. */
function endOfStatement(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === ";") return at + 1;
    if (character === '"' || character === "'") {
      const end = text.indexOf(character, at + 1);
      if (end < 0) return text.length;
      at = end;
    }
  }
  return text.length;
}

function withoutUrls(text: string, lost: NotLoaded): string {
  const word = /\b(?:url|src)\s*\(\s*/gi;
  let out = "";
  let from = 0;
  for (let match = word.exec(text); match; match = word.exec(text)) {
    const start = word.lastIndex;
    const quote = text[start] === '"' || text[start] === "'" ? text[start] : "";
    const close = quote ? text.indexOf(quote, start + 1) : text.indexOf(")", start);
    const end = quote && close >= 0 ? text.indexOf(")", close) : close;
    out += text.slice(from, match.index);
    if (end < 0) return out;
    const address = text.slice(start + quote.length, close).trim();
    out += isInside(address) ? text.slice(match.index, end + 1) : HOLE;
    if (!isInside(address)) count(address, lost);
    from = end + 1;
    word.lastIndex = from;
  }
  return out + text.slice(from);
}

/** `image-set("a.png" 1x)`: its strings are addresses. */
function withoutImageSets(text: string, lost: NotLoaded): string {
  return text.replace(/image-set\(([^()]{0,4000})\)/gi, (whole, list: string) => {
    if (!/["']/.test(list)) return whole;
    lost.images++;
    return "none";
  });
}

/** Whether an address is part of the recording. */
export function isInside(address: string): boolean {
  return (
    address === "" || address.startsWith("#") || /^data:(?:image\/|font\/|application\/(?:x-)?font|,)/i.test(address)
  );
}

function count(address: string, lost: NotLoaded): void {
  if (/\.(?:woff2?|ttf|otf|eot)(?:[?#]|$)/i.test(address)) lost.fonts++;
  else if (/\.css(?:[?#]|$)/i.test(address)) lost.styles++;
  else lost.images++;
}
