// Links from frames to the code host. The template of a project has {path}, and {commit} and {line} where the host
// needs them: https://github.com/acme/shop/blob/{commit}/{path}#L{line}
import type { Frame } from "./stack";

export interface CodeHost {
  /** Empty: no links. */
  template: string;
  /** Folder that is cut from the start of paths; may be empty. */
  root: string;
  /** Empty when unknown. */
  commit: string;
}

const encode = (text: string) => text.split("/").map(encodeURIComponent).join("/");

/** The path of a file in the repository; null for files outside it. */
export function repositoryPath(file: string, root: string): string | null {
  const path = file.replace(/^(?:[a-z][a-z0-9+.-]*:\/\/[^/]*\/|file:\/+|\.\/)/i, "").replaceAll("\\", "/");
  const folder = root.replaceAll("\\", "/").replace(/\/+$/, "");
  const full = file.startsWith("/") ? file : path;
  if (folder && (full === folder || full.startsWith(`${folder}/`))) return clean(full.slice(folder.length));
  if (full.startsWith("/") || /^[a-z]:\//i.test(full)) return null;
  return clean(full);
}

function clean(path: string): string | null {
  const parts = path.split("/").filter((part) => part && part !== ".");
  return parts.length && !parts.includes("..") ? parts.join("/") : null;
}

/** The address of the line of an own frame; null without a template, a path in the repository, or a needed commit. */
export function sourceLink(host: CodeHost, frame: Pick<Frame, "file" | "line" | "inApp">): string | null {
  if (!host.template || !frame.inApp || !frame.file) return null;
  if (host.template.includes("{commit}") && !host.commit) return null;
  if (host.template.includes("{line}") && frame.line === null) return null;
  const path = repositoryPath(frame.file, host.root);
  if (!path) return null;
  const values: Record<string, string> = {
    "{commit}": encodeURIComponent(host.commit),
    "{path}": encode(path),
    "{line}": String(frame.line ?? ""),
  };
  const address = host.template.replace(/\{(?:commit|path|line)\}/g, (name) => values[name]);
  return /^https?:\/\//.test(address) ? address : null;
}
