// Detects stack traces with raw addresses, obfuscated names or minified locations, which symbols would resolve.
// A heuristic for the display only; the server decides what it resolves.

export type RawForm = "ios" | "dart" | "native" | "java" | "script";

export interface Raw {
  form: RawForm;
  /** False for JavaScript that may be original source. */
  sure: boolean;
}

/** Only this many lines are examined. */
const LINES_MAX = 500;

const IOS = /^\s*#\d+\s+([0-9a-f]{32})\s+0x[0-9a-f]+\s+(\S.*)$/i;
const DART = /^\s*#\d+\s+abs [0-9a-f]+|\b_kDart(?:Isolate|Vm)SnapshotInstructions\b/;
const NATIVE = /^\s*#\d+\s+pc (?:0x)?[0-9a-f]{4,}\s+(\S+).*\(BuildId: ([0-9a-f]+)\)/i;
const JAVA = /^\s*at (?:[^\s/]+\/)*(?:[\w$]+\.)*([\w$]+)\.([\w$<>]+)\(([^)]*)\)$/;
const SCRIPT = /(?:^|[\s(@])([^\s()@]+):(\d+):(\d+)\)?$/;
const SCRIPT_NAME = /\.(?:[cm]?jsx?|bundle|hbc|jsbundle)$/i;
/** Class and method names that R8 generates: a, b0, aB. */
const SHORT = /^[a-z][a-z0-9]?$/i;

/** Returns the form of a raw trace; null if no line looks like a frame that symbols would resolve. */
export function rawForm(text: string): Raw | null {
  let weak: Raw | null = null;
  for (const line of text.split("\n", LINES_MAX)) {
    const found = lineForm(line.trimEnd());
    if (found?.sure) return found;
    weak ??= found;
  }
  return weak;
}

function lineForm(line: string): Raw | null {
  if (IOS.test(line)) return { form: "ios", sure: true };
  if (DART.test(line)) return { form: "dart", sure: true };
  if (NATIVE.test(line)) return { form: "native", sure: true };
  const java = JAVA.exec(line);
  if (java) {
    const obfuscated = java[3].startsWith("r8-map-id-") || (SHORT.test(java[1]) && SHORT.test(java[2]));
    return obfuscated ? { form: "java", sure: true } : null;
  }
  const script = SCRIPT.exec(line);
  const name = script && fileName(script[1]);
  if (!script || !name || !SCRIPT_NAME.test(name)) return null;
  if (isLibrary(script[1])) return null;
  return { form: "script", sure: isBuilt(script[1], name, Number(script[2]), Number(script[3])) };
}

function isLibrary(url: string): boolean {
  return url.startsWith("node:") || url.includes("node_modules/");
}

/** Whether a script is bundler output, by its name, by the position in it, or because a browser fetched it. */
function isBuilt(url: string, name: string, line: number, column: number): boolean {
  if (/\.min\.[cm]?js$|\.(?:bundle|hbc|jsbundle)$/i.test(name) || /[.-][\w-]*\d[\w-]{4,}\.[cm]?js$/.test(name))
    return true;
  if ((line === 1 && column >= 200) || column >= 1000) return true;
  return /^https?:\/\//.test(url) && !/^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])[:/]/.test(url);
}

/** The last segment of a URL or path, by which the server looks up files. */
export function fileName(url: string): string {
  return (
    url
      .replace(/[?#].*$/, "")
      .split(/[/\\]/)
      .at(-1) ?? ""
  );
}

/** File names of the scripts in the frames. */
export function scriptNames(text: string): Set<string> {
  const names = text.split("\n", LINES_MAX).map((line) => {
    const match = SCRIPT.exec(line.trimEnd());
    return match && !isLibrary(match[1]) ? fileName(match[1]) : "";
  });
  return new Set(names.filter((name) => SCRIPT_NAME.test(name)));
}

/** Debug id -> name of the image, for frames that contain both. */
export function imageNames(text: string): Map<string, string> {
  const names = new Map<string, string>();
  for (const line of text.split("\n", LINES_MAX)) {
    const ios = IOS.exec(line.trimEnd());
    if (ios) names.set(ios[1].toLowerCase(), ios[2]);
    const native = ios ? null : NATIVE.exec(line);
    if (native) names.set(native[2].toLowerCase(), fileName(native[1].replace(/^.*!/, "")));
  }
  return names;
}

/** `os: android` of a header; part of the name of Flutter's symbol file. */
export function osOf(text: string): string | undefined {
  return /^os: (\w+) /m.exec(text)?.[1];
}

const SYSTEM_IMAGE =
  /^(?:lib(?:system|swift|dispatch|objc|c\+\+|dyld)[\w.+-]*|libc\.so|libart\.so|libdl\.so|dyld|UIKit(?:Core)?|Foundation|CoreFoundation|CFNetwork|GraphicsServices|SwiftUI(?:Core)?|QuartzCore|Combine|AttributeGraph|WebKit|FrontBoardServices|BaseBoard|Network|CoreData)$/;

/** Whether an image belongs to the operating system: users have no symbols of it to upload. */
export function isSystemImage(name: string | undefined): boolean {
  return !!name && SYSTEM_IMAGE.test(name);
}
