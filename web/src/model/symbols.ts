// Display strings of uploaded and missing symbol files.
import type { MissingSymbols, RemovedSymbols, SymbolFile } from "./types";

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

/** Debug id in a file's key: `…/<id>.dsym`, `…/<id>-<arch>.symbols`, `…/<id>-<release>.txt`. Empty if the file is found by its name. */
export function fileId({ key, kind }: Pick<SymbolFile, "key" | "kind">): string {
  if ((kind === "source_map" || kind === "script") && !key.includes("/by-debug-id/")) return "";
  const stem = (key.split("/").at(-1) ?? "").replace(/\.(?:dsym|elf|symbols|txt|js\.map|js)$/, "");
  // The architecture of a Dart image, the release of a mapping.
  return kind === "dart" || kind === "mapping" ? stem.replace(/-[^-]*$/, "") : stem;
}

/** "1.2.3", or "1.2.3 and 4 earlier" if the same content was uploaded for several versions. */
export function versionWords(versions: string[]): string {
  const [latest, ...earlier] = versions;
  if (!latest) return "";
  return earlier.length ? `${latest} and ${earlier.length} earlier` : latest;
}

/** "1.2.3 (dist 42)". */
export function releaseWords({ versions, dist }: Pick<SymbolFile, "versions" | "dist">): string {
  const version = versionWords(versions);
  if (!dist) return version;
  return version ? `${version} (dist ${dist})` : `dist ${dist}`;
}

/** Name of the upload tool: "curl 8.5", "Tidewatch 0.1.0", "a browser". */
export function toolWords(userAgent: string): string {
  const [, name, version] = /^([^\s/]+)(?:\/([\w.+-]+))?/.exec(userAgent) ?? [];
  if (!name) return "an unnamed tool";
  if (name === "Mozilla") return "a browser";
  return version ? `${name} ${version}` : name;
}

/** Name of a missing file: "Debug file of AcmeApp", "Source map of app.js, version 1.2". */
export function missingWords(missing: MissingSymbols, image?: string): string {
  const words = fileWords(missing, image);
  return missing.version ? `${words}, version ${missing.version}` : words;
}

function fileWords({ kind, name, debugId }: MissingSymbols, image?: string): string {
  if (kind === "source_map") return name ? `Source map of ${name}` : "Source map";
  if (kind === "mapping") return "R8 mapping";
  if (!debugId) return name && name !== "unknown" ? `Flutter symbols for ${name}` : "Flutter symbols";
  if (image) return `Debug file of ${image}`;
  return name && name !== "unknown" ? `Debug file for ${name}` : "Debug file";
}

export function missingKey(one: MissingSymbols): string {
  return `${one.kind}/${one.debugId}/${one.path || one.name}/${one.version ?? ""}`;
}

const REMOVAL_SENTENCES: Record<string, string> = {
  too_many_releases: "50 newer releases were uploaded",
  release_too_old: "uploaded more than 180 days ago",
};

/** "12 files were deleted: uploaded more than 180 days ago". */
export function removalWords({ reason, files }: Pick<RemovedSymbols, "reason" | "files">): string {
  const count = files === 1 ? "1 file was" : `${files} files were`;
  return `${count} deleted: ${REMOVAL_SENTENCES[reason] ?? reason}`;
}

/** Values of `language` in `POST /api/symbols/resolve`, so that it parses the trace like ingest does. */
export const LANGUAGES = [
  { value: "", label: "By the form of its frames" },
  { value: "javascript", label: "JavaScript" },
  { value: "swift", label: "Swift, Objective-C (iOS)" },
  { value: "dart", label: "Dart (Flutter)" },
  { value: "java", label: "Java, Kotlin (Android)" },
];

/** "8 of 11 frames resolved", or the reason if none was. */
export function resolvedWords({ frames, resolved }: { frames: number; resolved: number }): string {
  if (frames === 0) return "No raw frames recognised: the trace is symbolic already, or of a form that is not known.";
  return `${resolved} of ${frames} ${frames === 1 ? "frame" : "frames"} resolved.`;
}
