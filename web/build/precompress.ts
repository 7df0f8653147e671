// Writes .br and .gz files beside compressible files, and dist/.srchash, by which a stale bundle is detected.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { brotliCompressSync, gzipSync, constants as zlib } from "node:zlib";
import type { Plugin } from "vite";

const COMPRESSIBLE = /\.(js|css|html|svg|json|txt|map)$/;

export function filesUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesUnder(path) : [path];
  });
}

/**
 * sha256 (hex) of the bundle's sources. For each file, in byte order of its path relative to `web/`
 * (`/` separated): path, NUL, bytes, NUL. Files: src/**, public/**, index.html, package-lock.json, vite.config.ts.
 */
export function sourceHash(root: string): string {
  const single = ["index.html", "package-lock.json", "vite.config.ts"].map((name) => join(root, name));
  const all = [...filesUnder(join(root, "src")), ...filesUnder(join(root, "public")), ...single];
  const named = all.map((path) => [relative(root, path).split("\\").join("/"), path] as const);
  named.sort((a, b) => Buffer.compare(Buffer.from(a[0]), Buffer.from(b[0])));
  const hash = createHash("sha256");
  for (const [name, path] of named) hash.update(name).update("\0").update(readFileSync(path)).update("\0");
  return hash.digest("hex");
}

export function precompress(root: string): Plugin {
  return {
    name: "tidewatch-precompress",
    apply: "build",
    closeBundle() {
      const dist = join(root, "dist");
      for (const path of filesUnder(dist)) {
        if (!COMPRESSIBLE.test(path) || statSync(path).size < 256) continue;
        const bytes = readFileSync(path);
        writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
        writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [zlib.BROTLI_PARAM_QUALITY]: 11 } }));
      }
      writeFileSync(join(dist, ".srchash"), `${sourceHash(root)}\n`);
    },
  };
}
