// Parses stack traces of any language into foldable frames. Unknown lines stay in place as text lines, so that
// nothing is lost; "raw" shows the original.

export interface Frame {
  kind: "frame";
  fn: string;
  file: string;
  line: number | null;
  column: number | null;
  /** Source line in the trace (Python). */
  source: string;
  inApp: boolean;
}
export interface TextLine {
  kind: "text";
  text: string;
  /** "Caused by: …" and similar lines that start a chained exception. */
  heading: boolean;
}
export type StackItem = Frame | TextLine;

export interface Stack {
  items: StackItem[];
  /** Index of the in-app frame nearest to the error, else of the nearest frame; -1 without frames. */
  culprit: number;
}

type Match = Pick<Frame, "fn" | "file"> & { line?: string; column?: string };

/** Patterns of one-line frames; the first match is used. */
const ONE_LINE: [RegExp, (m: RegExpExecArray) => Match][] = [
  // Python: File "a.py", line 3, in f
  [/^\s*File "([^"]+)", line (\d+)(?:, in (.+))?$/, (m) => ({ file: m[1], line: m[2], fn: m[3] ?? "" })],
  // Java: at a.b.C.m(File.java:12)
  [/^\s*at (?:.+\/)?([\w$.<>]+)\(([^():]+)(?::(\d+))?\)$/, (m) => ({ fn: m[1], file: m[2], line: m[3] })],
  // .NET: at A.B.M(String x) in /src/A.cs:line 12
  [/^\s*at (.+?) in (.+):line (\d+)$/, (m) => ({ fn: m[1], file: m[2], line: m[3] })],
  // V8: at f (file:1:2)
  [/^\s*at (?:async )?(.+?) \((.+?):(\d+):(\d+)\)$/, (m) => ({ fn: m[1], file: m[2], line: m[3], column: m[4] })],
  [/^\s*at (?:async )?([^\s()]+):(\d+):(\d+)$/, (m) => ({ fn: "", file: m[1], line: m[2], column: m[3] })],
  // .NET without a debug file: at A.B.M(String x)
  [/^\s*at ([\w.`<>[\]|+]+\([^)]*\))$/, (m) => ({ fn: m[1], file: "" })],
  // V8 without a location: at new Promise (<anonymous>)
  [/^\s*at (?:async )?(.+?) \((<anonymous>|native)\)$/, (m) => ({ fn: m[1], file: m[2] })],
  // PHP: #0 /srv/a.php(12): f()
  [/^#\d+ (.+?)\((\d+)\): (.+)$/, (m) => ({ file: m[1], line: m[2], fn: m[3] })],
  [/^#\d+ \[internal function\]: (.+)$/, (m) => ({ file: "[internal function]", fn: m[1] })],
  // resolved iOS and Dart: #3  f (file:1:2)
  [/^#\d+\s+(.+?) \((.+?):(\d+)(?::(\d+))?\)$/, (m) => ({ fn: m[1], file: m[2], line: m[3], column: m[4] })],
  // raw iOS: #3 <uuid> 0x1f0 Image
  [/^#\d+\s+[0-9a-f]{32} (0x[0-9a-f]+) (.+)$/i, (m) => ({ fn: m[1], file: m[2] })],
  // Ruby: app/a.rb:12:in `f'
  [/^\s*(?:from )?(.+?):(\d+):in [`'](.+)'$/, (m) => ({ file: m[1], line: m[2], fn: m[3] })],
  // Firefox, Safari: f@file:1:2
  [/^([^@\s]*)@(\S+):(\d+):(\d+)$/, (m) => ({ fn: m[1], file: m[2], line: m[3], column: m[4] })],
];

/** Location on a separate line, below the line of the function (resolved JS, Go, Rust). */
const PLACE: RegExp[] = [
  /^ {4}(\S.*?):(\d+)(?::(\d+))?$/,
  /^\t(\S+\.go):(\d+)(?: \+0x[0-9a-f]+)?()$/,
  /^\s+at (\S+\.rs):(\d+)(?::(\d+))?$/,
];
const RUST_FUNCTION = /^\s*\d+:\s+(?:0x[0-9a-f]+ - )?(.+)$/;
const HEADING = /^\s*(Caused by|Next |During handling|The above exception|Suppressed|\[cause\]|-+> )/;

const LIBRARY = new RegExp(
  [
    "node_modules",
    "^node:",
    "internal/",
    "site-packages",
    "dist-packages",
    "/lib/python\\d",
    "<frozen ",
    "/vendor/",
    "/gems/",
    "/lib/ruby/",
    "/rustc/",
    "\\.cargo/registry",
    "/go/pkg/mod/",
    "/usr/local/go/",
    "/usr/lib/",
    "^<anonymous>$",
    "^native$",
    "^\\[internal function\\]$",
    "webpack/runtime",
    "cdn\\.",
  ].join("|"),
);
const LIBRARY_FUNCTION =
  /^(java|javax|jdk|sun|com\.sun|kotlin|kotlinx|scala|org\.springframework|org\.apache|org\.hibernate|io\.netty|reactor|jakarta|System|Microsoft|runtime|net\/http|reflect|std|core|alloc|tokio|hyper|axum|__libc|__rust)([.:/$]|$)/;

export function isInApp(fn: string, file: string): boolean {
  return !LIBRARY.test(file) && !LIBRARY_FUNCTION.test(fn);
}

export function parseStack(text: string): Stack {
  const lines = text.replaceAll("\r\n", "\n").replace(/\n+$/, "").split("\n");
  const items: StackItem[] = [];
  let python = false;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i];
    const frame = oneLine(line) ?? twoLines(line, lines[i + 1]);
    if (frame === null) {
      items.push({ kind: "text", text: line, heading: HEADING.test(line) });
      continue;
    }
    if (frame.twoLines) i += 1;
    if (/^\s*File "/.test(line)) {
      python = true;
      const next = lines[i + 1];
      if (next !== undefined && /^ {4}/.test(next) && !/^\s*File "/.test(next)) {
        frame.item.source = next.trim();
        i += 1;
        if (/^\s*[\^~]+\s*$/.test(lines[i + 1] ?? "")) i += 1;
      }
    }
    items.push(frame.item);
  }
  return { items, culprit: culprit(items, python) };
}

interface Found {
  item: Frame;
  twoLines: boolean;
}

function oneLine(line: string): Found | null {
  for (const [pattern, read] of ONE_LINE) {
    const match = pattern.exec(line);
    if (match) return { item: frameOf(read(match)), twoLines: false };
  }
  return null;
}

function twoLines(line: string, next: string | undefined): Found | null {
  if (next === undefined || line.trim() === "") return null;
  for (const pattern of PLACE) {
    const match = pattern.exec(next);
    if (!match) continue;
    const fn = (RUST_FUNCTION.exec(line)?.[1] ?? line).trim().replace(/\(0x[^)]*\)$|\(\.\.\.\)$|\(\)$/, "");
    return { item: frameOf({ fn, file: match[1], line: match[2], column: match[3] }), twoLines: true };
  }
  return null;
}

function frameOf(match: Match): Frame {
  const fn = match.fn.trim();
  const number = (digits: string | undefined) => (digits ? Number(digits) : null);
  return {
    kind: "frame",
    fn,
    file: match.file,
    line: number(match.line),
    column: number(match.column),
    source: "",
    inApp: isInApp(fn, match.file),
  };
}

/** Python prints the innermost call last, other languages first. */
function culprit(items: StackItem[], innermostLast: boolean): number {
  const frames = items.map((item, i) => ({ item, i })).filter((entry) => entry.item.kind === "frame");
  if (innermostLast) frames.reverse();
  const own = frames.find((entry) => (entry.item as Frame).inApp);
  return (own ?? frames[0])?.i ?? -1;
}

export type StackBlock =
  | { kind: "open"; item: StackItem; index: number }
  | { kind: "folded"; frames: Frame[]; index: number };

/** Folds two or more consecutive library frames into one block. */
export function foldStack(stack: Stack): StackBlock[] {
  const blocks: StackBlock[] = [];
  stack.items.forEach((item, index) => {
    const library = item.kind === "frame" && !item.inApp && index !== stack.culprit;
    const last = blocks.at(-1);
    if (library && last?.kind === "folded") last.frames.push(item);
    else if (library) blocks.push({ kind: "folded", frames: [item], index });
    else blocks.push({ kind: "open", item, index });
  });
  return blocks.map((block) =>
    block.kind === "folded" && block.frames.length === 1
      ? { kind: "open", item: block.frames[0], index: block.index }
      : block,
  );
}

/** Whether a line contains a string, ignoring case; false for an empty string. */
export function matches(item: StackItem, find: string): boolean {
  const needle = find.trim().toLowerCase();
  if (!needle) return false;
  const line = item.kind === "text" ? item.text : `${item.fn} ${item.file}:${item.line ?? ""} ${item.source}`;
  return line.toLowerCase().includes(needle);
}
