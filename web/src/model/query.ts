// The text of a query while it is edited: its terms, the word at the caret, quoting. The server parses queries; see
// docs/use/query-language.md.

/** A term of a query: `level>=error`, `-path:/health`, `"card declined"` or a group in parentheses. */
export interface Term {
  text: string;
  /** Offsets in the query, in UTF-16 code units. */
  from: number;
  to: number;
}

/** Splits a query at the spaces outside quotes and brackets. `OR`, `AND` and `NOT` stay with their neighbours. */
export function terms(query: string): Term[] {
  const words: Term[] = [];
  let at = 0;
  while (at < query.length) {
    if (/\s/.test(query[at])) {
      at++;
      continue;
    }
    const from = at;
    let depth = 0;
    while (at < query.length && (depth > 0 || !/\s/.test(query[at]))) {
      const next = query[at];
      if (next === "\\") at++;
      else if (next === '"') at = quoteEnd(query, at);
      else if (next === "(" || next === "{") depth++;
      else if ((next === ")" || next === "}") && depth > 0) depth--;
      at++;
    }
    words.push({ text: query.slice(from, Math.min(at, query.length)), from, to: Math.min(at, query.length) });
  }
  return joined(query, words);
}

/** Index of the quote that closes the one at `opened`; the end of the text when there is none. */
function quoteEnd(query: string, opened: number): number {
  let at = opened + 1;
  while (at < query.length && query[at] !== '"') at += query[at] === "\\" ? 2 : 1;
  return at;
}

function joined(query: string, words: Term[]): Term[] {
  const all: Term[] = [];
  let joins = false;
  for (const word of words) {
    const isOperator = word.text === "OR" || word.text === "AND";
    const last = all[all.length - 1];
    if (last && (isOperator || joins)) {
      last.to = word.to;
      last.text = query.slice(last.from, last.to);
    } else all.push({ ...word });
    joins = isOperator || word.text === "NOT";
  }
  return all;
}

/** The query without one of its terms. */
export function withoutTerm(query: string, index: number): string {
  return terms(query)
    .filter((_, i) => i !== index)
    .map((term) => term.text)
    .join(" ");
}

/** What is being typed at the caret: the name of a field, or a value of `field`. `from` and `to` bound it. */
export interface Typed {
  field: string | null;
  prefix: string;
  from: number;
  to: number;
}

export function typedAt(query: string, caret: number): Typed {
  let from = caret;
  let inQuotes = false;
  // A quote that is open at the caret begins the value.
  for (let at = 0; at < caret; at++) {
    if (query[at] === "\\") at++;
    else if (query[at] === '"') {
      inQuotes = !inQuotes;
      if (inQuotes) from = at;
    }
  }
  if (!inQuotes) {
    from = caret;
    while (from > 0 && !/[\s()"{}]/.test(query[from - 1])) from--;
  }
  const word = query.slice(from, caret);
  let to = caret;
  while (to < query.length && !/[\s(){}]/.test(query[to])) to++;
  if (inQuotes) {
    const key = /([^\s()"{}:=<>!]+)(?::?[<>]=?|[:=]|!=)$/.exec(query.slice(0, from));
    return { field: key ? key[1].replace(/^-/, "") : null, prefix: word.slice(1), from, to };
  }
  const sign = /^[-!]?/.exec(word)![0].length;
  const compared = /^([^:=<>!]+)(?::?[<>]=?|[:=]|!=)/.exec(word.slice(sign));
  if (!compared) return { field: null, prefix: word.slice(sign), from: from + sign, to };
  const begin = sign + compared[0].length;
  if (compared[1] === "has") return { field: null, prefix: word.slice(begin), from: from + begin, to };
  return { field: compared[1], prefix: word.slice(begin), from: from + begin, to };
}

/** A value as it is written in a query: in quotes when a part of it would be read as something else. */
export function quoted(value: string): string {
  const isPlain = value !== "" && !/[\s"*\\(){}]/.test(value) && !/^(AND|OR|NOT)$/.test(value);
  return isPlain ? value : `"${value.replace(/["\\]/g, "\\$&")}"`;
}

/** The key of an attribute as it is written: quoted when it has characters of operators. */
export function quotedKey(key: string): string {
  return /^[^\s"*\\(){}:=<>!-][^\s"*\\(){}:=<>!]*$/.test(key) ? key : `"${key.replace(/["\\]/g, "\\$&")}"`;
}

/** Puts a chosen field or value where it is being typed; the caret goes behind it. */
export function completed(query: string, typed: Typed, text: string): { query: string; caret: number } {
  const put = typed.field === null ? `${quotedKey(text)}:` : `${quoted(text)} `;
  const before = query.slice(0, typed.from) + put;
  return { query: before + query.slice(typed.to).replace(/^\s+/, ""), caret: before.length };
}

/** The term that selects a value, and the one that excludes it. */
export function termOf(field: string, value: string, excludes = false): string {
  return `${excludes ? "-" : ""}${quotedKey(field)}:${quoted(value)}`;
}

/** The term that selects rows whose field is this text. */
export function equals(field: string, value: string): string {
  return `${quotedKey(field)}="${value.replace(/["\\]/g, "\\$&")}"`;
}

/** The query that selects records of these traces. */
export function oneOfTraces(traces: string[]): string {
  return `trace:(${traces.join(" OR ")})`;
}

/** The query that all of these, as far as they are not empty, make together. */
export function allOf(...queries: (string | undefined)[]): string {
  const present = queries.flatMap((query) => query?.trim() || []);
  if (present.length < 2) return present.join("");
  return present.map((query) => (terms(query).some((term) => / OR /.test(term.text)) ? `(${query})` : query)).join(" ");
}

/** Adds a term, or removes it if the query has it; the opposite term is replaced. */
export function toggled(query: string, field: string, value: string, excludes = false): string {
  const wanted = termOf(field, value, excludes);
  const opposite = termOf(field, value, !excludes);
  const all = terms(query).map((term) => term.text);
  const others = all.filter((term) => term !== wanted && term !== opposite);
  if (all.includes(wanted)) return others.join(" ");
  // An alternative would bind to the new term only.
  const kept = others.map((term) => (/ OR /.test(term) && !/^\(.*\)$/.test(term) ? `(${term})` : term));
  return [...kept, wanted].join(" ");
}

/** UTF-16 offset of a position in UTF-8 bytes. */
export function offsetOfByte(text: string, byte: number): number {
  let bytes = 0;
  let at = 0;
  for (const character of text) {
    if (bytes >= byte) return at;
    const code = character.codePointAt(0)!;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    at += character.length;
  }
  return at;
}

const HISTORY_MAX = 12;

/** The latest queries first, each once. */
export function remembered(history: string[], query: string): string[] {
  const text = query.trim();
  if (!text) return history;
  return [text, ...history.filter((one) => one !== text)].slice(0, HISTORY_MAX);
}
