import { expect, it } from "vitest";
import type { SymbolFile } from "../api/types";
import { fileId, missingWords, resolvedWords, showFiles, toolWords } from "./symbols";

const ID = "4c4c44dd55553144a1e29109d2cd8082";
const file = (kind: string, key: string, more: Partial<SymbolFile> = {}): SymbolFile => ({
  kind,
  key,
  name: key.split("/").at(-1) ?? "",
  version: null,
  bytes: 1,
  hasDebugInfo: true,
  arch: null,
  uploadedBy: null,
  lastUsedAt: null,
  uploadedAt: "2026-05-01T00:00:00Z",
  ...more,
});

it.each([
  ["dsym", `iossymbols/p/${ID}.dsym`, ID],
  ["elf", "elfsymbols/p/9f2c.elf", "9f2c"],
  ["dart", `dartsymbols/p/${ID}-arm64.symbols`, ID],
  ["mapping", `androidmappings/p/${ID}.txt`, ID],
  ["source_map", "sourcemaps/p/app.js.map", ""],
  ["script", "sourcemaps/p/by-debug-id/9f2c.js", "9f2c"],
  ["source_map", "sourcemaps/p/by-debug-id/9f2c.js.map", "9f2c"],
])("reads the id of a %s off its key", (kind, key, id) => {
  expect(fileId({ kind, key })).toBe(id);
});

it.each([
  ["curl/8.5.0", "curl 8.5.0"],
  ["tidewatch/0.1.0", "tidewatch 0.1.0"],
  ["Mozilla/5.0 (X11; Linux x86_64)", "a browser"],
  ["node", "node"],
  ["", "an unnamed tool"],
])("names the tool that calls itself %j", (userAgent, words) => {
  expect(toolWords(userAgent)).toBe(words);
});

it("finds by name, version and id however it is written, and sorts", () => {
  const files = [
    file("dsym", `iossymbols/p/${ID}.dsym`, { name: "Acme", bytes: 30, uploadedAt: "2026-05-03T00:00:00Z" }),
    file("source_map", "sourcemaps/p/app.js.map", { version: "1.2.3", bytes: 20, uploadedAt: "2026-05-02T00:00:00Z" }),
    file("script", "sourcemaps/p/app.js", { bytes: 10 }),
  ];
  const names = (words: string, kind?: string, by: "uploaded" | "name" | "size" = "uploaded", desc = true) =>
    showFiles(files, words, kind, { by, desc }).map((one) => one.name);
  expect(names("")).toEqual(["Acme", "app.js.map", "app.js"]);
  expect(names("", undefined, "size", false)).toEqual(["app.js", "app.js.map", "Acme"]);
  expect(names("APP.js")).toEqual(["app.js.map", "app.js"]);
  expect(names("1.2")).toEqual(["app.js.map"]);
  expect(names("4C4C44DD-5555-3144")).toEqual(["Acme"]);
  expect(names("", "script")).toEqual(["app.js"]);
  expect(names("nothing")).toEqual([]);
  expect(files[0].name, "the list itself keeps its order").toBe("Acme");
});

it.each([
  [{ kind: "debug_file", debugId: ID, name: "arm64" }, "Acme", "Debug file of Acme"],
  [{ kind: "debug_file", debugId: ID, name: "arm64" }, undefined, "Debug file for arm64"],
  [{ kind: "debug_file", debugId: ID, name: "unknown" }, undefined, "Debug file"],
  [{ kind: "debug_file", debugId: "", name: "arm64" }, undefined, "Flutter symbols for arm64"],
  [{ kind: "mapping", debugId: ID, name: "" }, undefined, "R8 mapping"],
  [{ kind: "source_map", debugId: "", name: "app.js" }, undefined, "Source map of app.js"],
])("names what is missing: %o", (missing, image, words) => {
  expect(missingWords(missing, image)).toBe(words);
});

it("says how much was resolved", () => {
  expect(resolvedWords({ frames: 11, resolved: 8 })).toBe("8 of 11 frames resolved.");
  expect(resolvedWords({ frames: 1, resolved: 0 })).toBe("0 of 1 frame resolved.");
  expect(resolvedWords({ frames: 0, resolved: 0 })).toMatch(/^No raw frames/);
});
