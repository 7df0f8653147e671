// Rows of an API answer as CSV, and a request as a command line.

type Cell = string | number | boolean | null | undefined | object;
export type ExportedRow = Record<string, Cell>;

/** A spreadsheet runs text that begins with one of these as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

function cellText(value: Cell): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** CSV as of RFC 4180 with a header of all keys. Objects and lists are JSON; text that is a formula is quoted by `'`. */
export function csvOf(rows: readonly ExportedRow[]): string {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [keys.map(cellText), ...rows.map((row) => keys.map((key) => cellText(row[key])))];
  return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

/** A request of the API as a command for a POSIX shell; the token comes from the environment. */
export function curlOf(url: string, body: unknown): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  return [
    `curl ${quoted(url)}`,
    '  -H "Authorization: Bearer $TIDEWATCH_TOKEN"',
    "  -H 'Content-Type: application/json'",
    `  -d ${quoted(JSON.stringify(body))}`,
  ].join(" \\\n");
}
