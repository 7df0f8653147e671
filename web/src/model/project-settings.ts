// Parsers of the fields of a project's settings.

/** One path per line; at most 50 (WIRE 5.6), 4 KiB in total. Returns the paths, or an error message. */
export function healthcheckPaths(text: string): { paths: string[]; error: string | null } {
  const paths = [
    ...new Set(
      text
        .split("\n")
        .map((line) => line.trim())
        .filter(Boolean),
    ),
  ];
  const wrong = paths.find((path) => !isPath(path));
  if (wrong) return { paths, error: `“${wrong}” is no path: begin with /, without spaces; a * only at its ends.` };
  if (paths.length > 50) return { paths, error: `At most 50 paths; these are ${paths.length}.` };
  if (new TextEncoder().encode(paths.join("\n")).length >= 4096)
    return { paths, error: "These are longer than 4096 bytes together." };
  return { paths, error: null };
}

/** One leading and one trailing * are allowed. A pattern that matches every request is invalid. */
function isPath(path: string): boolean {
  const inside = path.replace(/^\*/, "").replace(/\*$/, "");
  const all = inside === "" || (inside === "/" && path !== "/");
  return /^[/*]/.test(path) && !all && !/[\s*]/.test(inside);
}

/** Languages with a word list for AI conversations. */
export const LANGUAGES = [
  { code: "en", label: "English" },
  { code: "de", label: "German" },
  { code: "es", label: "Spanish" },
  { code: "fr", label: "French" },
  { code: "it", label: "Italian" },
  { code: "pt", label: "Portuguese" },
  { code: "sr", label: "Serbian" },
] as const;

const FLAGGED_TERMS_MAX = 200;

/** One term per line, in the form in which the server stores it: words in lower case with one space between them. */
export function flaggedTerms(text: string): { terms: string[]; error: string | null } {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const normal = (line: string) => (line.toLowerCase().match(/(?:[\p{L}\p{N}]|[\u0300-\u036f])+/gu) ?? []).join(" ");
  const terms = [...new Set(lines.map(normal))];
  const wrong = lines.find((line) => {
    const words = normal(line).split(" ").filter(Boolean).length;
    return words < 1 || words > 8 || line.length > 100;
  });
  if (wrong)
    return { terms, error: `“${wrong}” is no term: one to eight words of letters and digits, at most 100 characters.` };
  if (terms.length > FLAGGED_TERMS_MAX)
    return { terms, error: `At most ${FLAGGED_TERMS_MAX} terms; these are ${terms.length}.` };
  if (new TextEncoder().encode(terms.join("\n")).length >= 8192)
    return { terms, error: "These are longer than 8192 bytes together." };
  return { terms, error: null };
}

export const RETENTION_DAYS_MAX = 3650;

/** "" is the server's default (0); otherwise whole days, 1 to 3650. Null if invalid. */
export function retentionDays(text: string): number | null {
  if (text.trim() === "") return 0;
  const days = Number(text);
  return Number.isInteger(days) && days >= 1 && days <= RETENTION_DAYS_MAX ? days : null;
}

/** Inverse: the default is an empty field. */
export function retentionText(days: number | null | undefined): string {
  return days ? String(days) : "";
}

const MEGABYTE = 1 << 20;

/** A whole number of records; "" is the server's default (0). Null if invalid. */
export function quotaLimit(text: string): number | null {
  if (text.trim() === "") return 0;
  const limit = Number(text);
  return Number.isSafeInteger(limit) && limit >= 1 ? limit : null;
}

/** "1.5" megabytes -> bytes; "" is the server's default (0). Null if invalid. */
export function quotaMegabytes(text: string): number | null {
  if (text.trim() === "") return 0;
  const bytes = Math.round(Number(text) * MEGABYTE);
  return Number.isSafeInteger(bytes) && bytes >= 1 ? bytes : null;
}

/** Inverse: the default is an empty field. */
export function limitText(limit: number | null | undefined): string {
  return limit ? String(limit) : "";
}

export function megabytesText(bytes: number | null | undefined): string {
  return bytes ? String(Number((bytes / MEGABYTE).toPrecision(12))) : "";
}

/** One origin per line, at most 50. Returns the list, or an error message. The server validates again. */
export function origins(text: string): { list: string[]; error: string | null } {
  const lines = text.split("\n").map((line) => line.trim());
  const list = [...new Set(lines.filter(Boolean))];
  const wrong = list.find((line) => !/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+\/?$/i.test(line));
  if (wrong) return { list, error: `“${wrong}” is no origin: a scheme and a host, such as https://shop.example.` };
  if (list.length > 50) return { list, error: `At most 50 origins; these are ${list.length}.` };
  return { list, error: null };
}

/** "12.5" % -> 0.125; null if it is not a number from 0 to 100. */
export function sampleRate(text: string): number | null {
  const percent = Number(text);
  return text.trim() !== "" && percent >= 0 && percent <= 100 ? percent / 100 : null;
}

/** Rate -> percent without floating-point noise: 0.07 -> "7". */
export function ratePercent(rate: number): string {
  return String(Number((rate * 100).toPrecision(12)));
}

/** Whether the server masked the token for a user who may not read it. */
export function isHiddenToken(token: string): boolean {
  return token === "" || token === "read-only-hidden-token";
}
