import { expect, it } from "vitest";
import { fileId, missingWords, releaseWords, removalWords, resolvedWords, toolWords, versionWords } from "./symbols";

const ID = "4c4c44dd55553144a1e29109d2cd8082";

it.each([
  ["dsym", `iossymbols/p/${ID}.dsym`, ID],
  ["elf", "elfsymbols/p/9f2c.elf", "9f2c"],
  ["dart", `dartsymbols/p/${ID}-arm64.symbols`, ID],
  ["mapping", `androidmappings/p/${ID}.txt`, ID],
  ["mapping", `androidmappings/p/${ID}-0123456789abcdef.txt`, ID],
  ["source_map", "sourcemaps/p/by-release/0123456789abcdef-app.js.map", ""],
  ["source_map", "sourcemaps/p/app.js.map", ""],
  ["script", "sourcemaps/p/by-debug-id/9f2c.js", "9f2c"],
  ["source_map", "sourcemaps/p/by-debug-id/9f2c.js.map", "9f2c"],
])("reads the id of a %s from its key", (kind, key, id) => {
  expect(fileId({ kind, key })).toBe(id);
});

it.each([
  ["curl/8.5.0", "curl 8.5.0"],
  ["tidewatch/0.1.0", "tidewatch 0.1.0"],
  ["Mozilla/5.0 (X11; Linux x86_64)", "a browser"],
  ["node", "node"],
  ["", "an unnamed tool"],
])("names the tool with the User-Agent %j", (userAgent, words) => {
  expect(toolWords(userAgent)).toBe(words);
});

it.each([
  [[], ""],
  [["1.2"], "1.2"],
  [["1.3", "1.2", "1.1"], "1.3 and 2 earlier"],
])("names the versions %j of one file", (versions, words) => {
  expect(versionWords(versions)).toBe(words);
});

it.each([
  [{ kind: "debug_file", debugId: ID, name: "arm64" }, "Acme", "Debug file of Acme"],
  [{ kind: "debug_file", debugId: ID, name: "arm64" }, undefined, "Debug file for arm64"],
  [{ kind: "debug_file", debugId: ID, name: "unknown" }, undefined, "Debug file"],
  [{ kind: "debug_file", debugId: "", name: "arm64" }, undefined, "Flutter symbols for arm64"],
  [{ kind: "mapping", debugId: ID, name: "" }, undefined, "R8 mapping"],
  [{ kind: "source_map", debugId: "", name: "app.js" }, undefined, "Source map of app.js"],
])("names what is missing: %o", (missing, image, words) => {
  expect(missingWords({ path: "", version: null, ...missing }, image)).toBe(words);
});

it.each([
  [["1.2"], null, "1.2"],
  [["1.2"], "42", "1.2 (dist 42)"],
  [[], "42", "dist 42"],
  [[], null, ""],
])("names the release %j %j of a file", (versions, dist, words) => {
  expect(releaseWords({ versions, dist })).toBe(words);
});

it("names the release of a missing file", () => {
  const map = { kind: "source_map", debugId: "", name: "app.js", path: "app.js", version: "1.2" };
  expect(missingWords(map)).toBe("Source map of app.js, version 1.2");
});

it("says why files were deleted", () => {
  expect(removalWords({ reason: "release_too_old", files: 1 })).toBe(
    "1 file was deleted: uploaded more than 180 days ago",
  );
  expect(removalWords({ reason: "too_many_releases", files: 2 })).toBe(
    "2 files were deleted: 50 newer releases were uploaded",
  );
});

it("reports how many frames were resolved", () => {
  expect(resolvedWords({ frames: 11, resolved: 8 })).toBe("8 of 11 frames resolved.");
  expect(resolvedWords({ frames: 1, resolved: 0 })).toBe("0 of 1 frame resolved.");
  expect(resolvedWords({ frames: 0, resolved: 0 })).toMatch(/^No raw frames/);
});
