// Fails if the bundle exceeds its budget. Sizes are gzip for js and css, plain for fonts.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const dist = new URL("../dist/", import.meta.url).pathname;
const assets = join(dist, "assets");
const kB = (bytes) => Math.round(bytes / 100) / 10;
const gzip = (path) => gzipSync(readFileSync(path), { level: 9 }).length;

const files = readdirSync(assets).filter((name) => /\.(js|css|woff2)$/.test(name));
const js = new Map(files.filter((name) => name.endsWith(".js")).map((name) => [name, gzip(join(assets, name))]));

/** The module with all its static imports, recursively. */
function staticClosure(start) {
  const seen = new Set();
  const open = [...start];
  while (open.length) {
    const name = open.pop();
    if (seen.has(name) || !js.has(name)) continue;
    seen.add(name);
    const text = readFileSync(join(assets, name), "utf8");
    for (const match of text.matchAll(/(?:import|from)\s*"\.\/([^"]+\.js)"/g)) open.push(match[1]);
  }
  return seen;
}

const html = readFileSync(join(dist, "index.html"), "utf8");
const entry = [...html.matchAll(/assets\/([^"]+\.js)/g)].map((match) => match[1]);
const overview = [...js.keys()].filter((name) => name.startsWith("Overview-"));
const sum = (names) => [...names].reduce((total, name) => total + js.get(name), 0);
const first = staticClosure([...entry, ...overview]);
const lazy = [...js].filter(([name]) => !first.has(name));
const ofKind = (ending, size) =>
  files.filter((name) => name.endsWith(ending)).reduce((total, name) => total + size(join(assets, name)), 0);

const checks = [
  // Each page is a route and an entry of the rail, about 300 bytes.
  ["first route, JS gzip", sum(first), 204_000],
  ["largest lazy chunk, JS gzip", Math.max(0, ...lazy.map(([, size]) => size)), 80_000],
  // Every page but the first is a lazy chunk: the sum bounds the binary, not what a reader waits for.
  ["all JS, gzip", sum(js.keys()), 650_000],
  ["replay frame, gzip", gzip(join(dist, "replay-frame.html")), 80_000],
  ["CSS, gzip", ofKind(".css", gzip), 25_000],
  ["fonts", ofKind(".woff2", (path) => statSync(path).size), 130_000],
];
let failed = false;
for (const [name, size, budget] of checks) {
  const over = size > budget;
  failed ||= over;
  console.log(
    `${over ? "OVER" : "ok  "}  ${name.padEnd(28)} ${kB(size).toFixed(1).padStart(7)} kB of ${kB(budget)} kB`,
  );
}
process.exit(failed ? 1 : 0);
