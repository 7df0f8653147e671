// The layers of web/src, and the rules about which file may import which.
import { importsOf, resolveImport, type SourceFile } from "./imports.ts";

/** From the top. A file imports from its own layer and from lower ones. */
export const LAYERS = ["main", "router", "routes", "pages", "parts", "viz", "ui", "api", "model", "styles"];
/** Folders of `pages` that have no address of their own and from which other pages may import. */
export const SHARED_PAGES = ["entities"];
/** A bundle of its own, outside the layers. It imports nothing from them; they import only its protocol. */
export const REPLAY_FRAME = { folder: "replay-frame", protocol: "replay-frame/protocol.ts", users: ["parts"] };
/** This layer imports no package: neither React nor the network. */
const PURE = "model";
const LINES_MAX = 500;

interface Arrow {
  from: string;
  line: number;
  to: string;
}
export interface Findings {
  /** From a layer to a higher one, or across the border of the replay frame. */
  upward: string[];
  /** From one folder of pages to another that is not shared. */
  betweenPages: string[];
  /** Files that import each other, directly or through others. Imports of types count. */
  circles: string[][];
  /** Targets that are neither files below `src` nor declared packages: aliases, other folders, computed names. */
  unresolved: string[];
  /** Packages that the pure layer imports. */
  impure: string[];
  tooLong: string[];
}

/** Checks the files. `isPackage` tells whether `package.json` declares a package. */
export function findingsOf(files: SourceFile[], generated: string[], isPackage: (name: string) => boolean): Findings {
  const known = new Set([...files.map((file) => file.path), ...generated]);
  const arrows: Arrow[] = [];
  const unresolved: string[] = [];
  const impure: string[] = [];
  for (const file of files) {
    const { imports, computed } = importsOf(file);
    unresolved.push(...computed.map((line) => `${file.path}:${line}: computed`));
    for (const { specifier, line } of imports) {
      const at = `${file.path}:${line}: ${specifier}`;
      const to = specifier.startsWith(".") ? resolveImport(file.path, specifier, known) : undefined;
      if (to) arrows.push({ from: file.path, line, to });
      else if (specifier.startsWith(".") || !isPackage(packageOf(specifier))) unresolved.push(at);
      else if (layerOf(file.path) === PURE && !isTest(file.path)) impure.push(at);
    }
  }
  return {
    upward: arrows.filter((arrow) => !isAllowed(arrow)).map(shown),
    betweenPages: arrows.filter(isBetweenPages).map(shown),
    circles: circlesOf(arrows),
    unresolved,
    impure,
    tooLong: files.filter((file) => linesOf(file) > LINES_MAX).map((file) => `${file.path}: ${linesOf(file)} lines`),
  };
}

const shown = ({ from, line, to }: Arrow) => `${from}:${line} -> ${to}`;
const isTest = (path: string) => /\.test\.tsx?$/.test(path);
const linesOf = ({ content }: SourceFile) => content.trimEnd().split("\n").length;

/** "@scope/name/file" belongs to "@scope/name". */
function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/** The top folder, or the name of a file at the top. */
export function layerOf(path: string): string {
  return path.split("/")[0].replace(/\.tsx?$/, "");
}

function isAllowed({ from, to }: Arrow): boolean {
  const [source, target] = [layerOf(from), layerOf(to)];
  if (source === target) return true;
  if (target === REPLAY_FRAME.folder) return to === REPLAY_FRAME.protocol && REPLAY_FRAME.users.includes(source);
  return LAYERS.includes(source) && LAYERS.indexOf(target) > LAYERS.indexOf(source);
}

function isBetweenPages({ from, to }: Arrow): boolean {
  const [[source, page], [target, other]] = [from.split("/"), to.split("/")];
  return source === "pages" && target === "pages" && page !== other && !SHARED_PAGES.includes(other);
}

/** Sets of files of which each reaches each other one (Tarjan 1972). */
function circlesOf(arrows: Arrow[]): string[][] {
  const next = new Map<string, string[]>();
  for (const { from, to } of arrows) next.set(from, [...(next.get(from) ?? []), to]);
  const order = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  /** The lowest number among the open files that `file` reaches. */
  const walk = (file: string): number => {
    const own = order.size;
    let lowest = own;
    order.set(file, own);
    open.push(file);
    for (const to of next.get(file) ?? []) {
      const reached = order.has(to) ? (open.includes(to) ? (order.get(to) ?? own) : own) : walk(to);
      lowest = Math.min(lowest, reached);
    }
    if (lowest === own) {
      const members = open.splice(open.indexOf(file));
      if (members.length > 1 || next.get(file)?.includes(file)) circles.push(members.sort());
    }
    return lowest;
  };
  for (const file of next.keys()) if (!order.has(file)) walk(file);
  return circles;
}
