// Symbol files of the mock: some of each kind, and missing ones.
import type { MissingSymbols, SymbolFile } from "../../src/model/types.ts";
import type { Body } from "./common.ts";
import { PROJECT } from "./trace.ts";

type Handler = (body: Body, url: URL, parts: string[]) => unknown;

const now = Date.now();
const ago = (hours: number) => new Date(now - hours * 3_600_000).toISOString();
const id = (seed: number) =>
  Array.from({ length: 32 }, (_, i) => ((seed * (i + 7) * 2654435761) >>> (i % 13)) & 15)
    .map((digit) => digit.toString(16))
    .join("");

type Rest = Pick<SymbolFile, "kind" | "name" | "version" | "bytes" | "uploadedAt"> & { arch?: string };
const file = (folder: string, end: string, rest: Rest): SymbolFile => ({
  key: `${folder}/${PROJECT}/${end}`,
  hasDebugInfo: true,
  uploadedBy: { credential: "upload_token", userAgent: "tidewatch/0.1.0", address: "203.0.113.9" },
  lastUsedAt: rest.kind === "script" ? null : ago(2),
  arch: null,
  dist: null,
  versions: rest.version ? [rest.version] : [],
  ...rest,
});

/** A page of the files, like the server's response. */
function page(url: URL) {
  const parameter = (name: string) => url.searchParams.get(name) ?? "";
  const words = parameter("search").toLowerCase();
  const sign = parameter("sortDirection") === "asc" ? 1 : -1;
  const by = (one: SymbolFile) => {
    if (parameter("orderBy") === "size") return String(one.bytes).padStart(12, "0");
    if (parameter("orderBy") === "used") return one.lastUsedAt ?? "";
    return parameter("orderBy") === "name" ? one.name : one.uploadedAt;
  };
  const found = files
    .filter((one) => !parameter("kind") || one.kind === parameter("kind"))
    .filter((one) => [one.name, one.version ?? "", one.key].some((text) => text.toLowerCase().includes(words)))
    .sort((a, b) => sign * by(a).localeCompare(by(b)));
  const [number, size] = [Number(parameter("page") || 1), Number(parameter("pageSize") || 20)];
  const pagination = { page: number, pageSize: size, total: found.length, totalPages: Math.ceil(found.length / size) };
  return { data: found.slice((number - 1) * size, number * size), pagination };
}

let files: SymbolFile[] = [
  ...Array.from({ length: 120 }, (_, i) => {
    const name = `${["index", "vendor", "checkout", "account"][i % 4]}-${id(i + 1).slice(0, 8)}.js`;
    const isMap = i % 2 === 0;
    return file("sourcemaps", isMap ? `${name}.map` : name, {
      kind: isMap ? "source_map" : "script",
      name: isMap ? `${name}.map` : name,
      version: `1.${42 - Math.floor(i / 8)}.0`,
      bytes: 40_000 * ((i % 9) + 1),
      uploadedAt: ago(i * 7 + 1),
    });
  }),
  file("iossymbols", `${id(901)}.dsym`, {
    kind: "dsym",
    arch: "arm64",
    name: "Shop",
    version: null,
    bytes: 48_200_114,
    uploadedAt: ago(3),
  }),
  {
    ...file("iossymbols", `${id(902)}.dsym`, {
      kind: "dsym",
      arch: "arm64",
      name: "ShopKit",
      version: null,
      bytes: 812_114,
      uploadedAt: ago(3),
    }),
    hasDebugInfo: false,
  },
  file("dartsymbols", `${id(903)}-arm64.symbols`, {
    kind: "dart",
    arch: "arm64",
    name: "app.android-arm64.symbols",
    version: "2.0.1+88",
    bytes: 9_104_881,
    uploadedAt: ago(30),
  }),
  file("androidmappings", `${id(904)}.txt`, {
    kind: "mapping",
    name: "mapping.txt",
    version: null,
    bytes: 6_204_881,
    uploadedAt: ago(31),
  }),
];

const missing: MissingSymbols[] = [
  { kind: "debug_file", debugId: id(77), name: "arm64", path: "", version: null },
  {
    kind: "source_map",
    debugId: "",
    name: "checkout-8f3a11bc.js",
    path: "assets/checkout-8f3a11bc.js",
    version: "1.41.3",
  },
  { kind: "mapping", debugId: id(78), name: "", path: "", version: null },
];

export const SYMBOLS: [string, Handler][] = [
  ["POST /api/symbols/sources", () => ({ frames: [] })],
  ["GET /api/symbols", (_body, url) => page(url)],
  [
    "DELETE /api/symbols",
    (_body, url) => {
      const before = files.length;
      files = files.filter((one) => one.key !== url.searchParams.get("key"));
      return { removed: files.length < before };
    },
  ],
  [
    "GET /api/symbols/missing",
    () => missing.map((one, i) => ({ ...one, traces: 412 >> i, firstSeen: ago(50 + i), lastSeen: ago(i * 0.3) })),
  ],
  [
    "GET /api/symbols/removed",
    () => [{ reason: "too_many_releases", files: 12, bytes: 4_812_331, lastRemoved: ago(5) }],
  ],
  [
    "POST /api/symbols/resolve",
    (body) => {
      const text = String(body.stackTrace);
      const frames = text.split("\n").filter((line) => /^\s*(#\d+ |at )/.test(line)).length;
      return { stackTrace: text, frames, resolved: 0, missing: frames ? missing.slice(0, 1) : [] };
    },
  ],
];
