// Uploaded symbol files and missing ones, in words and in order.
import type { MissingSymbols, SymbolFile } from "../api/types";
import type { Sort } from "./search";

const KIND_WORDS: Record<string, string> = {
  dsym: "iOS debug file",
  elf: "Native debug file",
  dart: "Flutter symbols",
  mapping: "R8 mapping",
  source_map: "Source map",
  script: "Script",
};
export function kindWords(kind: string): string {
  return KIND_WORDS[kind] ?? kind;
}

/** The debug id a file is found by; empty where that is its name. Read off its key: `…/<id>.dsym`, `…/<id>-<arch>.symbols`. */
export function fileId({ key, kind }: Pick<SymbolFile, "key" | "kind">): string {
  if ((kind === "source_map" || kind === "script") && !key.includes("/by-debug-id/")) return "";
  const stem = (key.split("/").at(-1) ?? "").replace(/\.(?:dsym|elf|symbols|txt|js\.map|js)$/, "");
  return kind === "dart" ? stem.replace(/-[^-]*$/, "") : stem;
}

/** The tool that sent a file, in a few words: "curl 8.5", "Tidewatch 0.1.0", "a browser". */
export function toolWords(userAgent: string): string {
  const [, name, version] = /^([^\s/]+)(?:\/([\w.+-]+))?/.exec(userAgent) ?? [];
  if (!name) return "an unnamed tool";
  if (name === "Mozilla") return "a browser";
  return version ? `${name} ${version}` : name;
}

export const FILE_SORTS = ["uploaded", "used", "name", "size"] as const;
export type FileSort = (typeof FILE_SORTS)[number];

export function showFiles(files: SymbolFile[], words: string, kind: string | undefined, sort: Sort<FileSort>) {
  // Ids are pasted as they were printed: with hyphens or without, upper case or lower.
  const want = words.trim().toLowerCase();
  const asId = /^[0-9a-f-]{8,}$/.test(want) ? want.replaceAll("-", "") : "";
  const fits = (file: SymbolFile) =>
    (!kind || file.kind === kind) &&
    ([file.name, file.version ?? "", file.key].some((text) => text.toLowerCase().includes(want)) ||
      (asId !== "" && fileId(file).replaceAll("-", "").includes(asId)));
  const sign = sort.desc ? -1 : 1;
  return files.filter(fits).sort((a, b) => sign * compare(a, b, sort.by) || a.key.localeCompare(b.key));
}

function compare(a: SymbolFile, b: SymbolFile, by: FileSort): number {
  if (by === "size") return a.bytes - b.bytes;
  if (by === "used") return (a.lastUsedAt ?? "").localeCompare(b.lastUsedAt ?? "");
  return by === "name" ? a.name.localeCompare(b.name) : a.uploadedAt.localeCompare(b.uploadedAt);
}

/** "Debug file of AcmeApp": what to look for. */
export function missingWords({ kind, name, debugId }: MissingSymbols, image?: string): string {
  if (kind === "source_map") return name ? `Source map of ${name}` : "Source map";
  if (kind === "mapping") return "R8 mapping";
  if (!debugId) return name && name !== "unknown" ? `Flutter symbols for ${name}` : "Flutter symbols";
  if (image) return `Debug file of ${image}`;
  return name && name !== "unknown" ? `Debug file for ${name}` : "Debug file";
}

export function missingKey(one: MissingSymbols): string {
  return `${one.kind}/${one.debugId}/${one.name}`;
}

/** What `POST /api/symbols/resolve` is told, so that it reads the trace as ingest did. */
export const LANGUAGES = [
  { value: "", label: "By the form of its frames" },
  { value: "javascript", label: "JavaScript" },
  { value: "swift", label: "Swift, Objective-C (iOS)" },
  { value: "dart", label: "Dart (Flutter)" },
  { value: "java", label: "Java, Kotlin (Android)" },
];

/** "8 of 11 frames resolved", or why nothing was. */
export function resolvedWords({ frames, resolved }: { frames: number; resolved: number }): string {
  if (frames === 0) return "No raw frames recognised: the trace is symbolic already, or of a form that is not known.";
  return `${resolved} of ${frames} ${frames === 1 ? "frame" : "frames"} resolved.`;
}
