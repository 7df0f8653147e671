// A real web app with the real OpenTelemetry SDK: npm packages in a cache folder, bundled and minified by esbuild,
// served from a separate origin.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const SOURCE = new URL("../web-sdk", import.meta.url).pathname;

/** The app's folder with its packages, installed once per lock file. */
async function installed(): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  const folder = join(cache, "tidewatch", "web-sdk");
  await mkdir(folder, { recursive: true });
  await cp(SOURCE, folder, { recursive: true });
  const lock = await readFile(join(folder, "package-lock.json"), "utf8");
  const marker = join(folder, ".installed");
  if ((await readFile(marker, "utf8").catch(() => "")) !== lock) {
    await promisify(execFile)("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: folder });
    await writeFile(marker, lock);
  }
  return folder;
}

export interface Bundle {
  /** Minified script of few lines. */
  script: string;
  map: string;
}

interface Esbuild {
  build(options: object): Promise<{ outputFiles: { path: string; text: string }[] }>;
}

/** Builds the app. `sourcesContent` embeds the sources in the map. */
export async function bundle({ sourcesContent }: { sourcesContent: boolean }): Promise<Bundle> {
  const folder = await installed();
  const esbuild = createRequire(join(folder, "package.json"))("esbuild") as Esbuild;
  const { outputFiles } = await esbuild.build({
    absWorkingDir: folder,
    entryPoints: ["app/main.ts"],
    outfile: "dist/shop.min.js",
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    sourcemap: "external",
    sourcesContent,
    write: false,
    logLevel: "silent",
  });
  const text = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? "";
  return { script: text(".js"), map: text(".js.map") };
}

export interface WebApp {
  url: string;
  stop: () => Promise<void>;
}

/** Serves the script under this name, on a page with one button that contains the script's settings. */
export async function serve(script: string, name: string, otlp: { url: string; token: string }): Promise<WebApp> {
  const data = JSON.stringify(otlp).replaceAll('"', "&quot;");
  const page = `<!doctype html><title>shop</title><link rel="icon" href="data:,"><body data-otlp="${data}"><button>Pay</button><script src="/assets/${name}"></script>`;
  const server = createServer((request, answer) => {
    const isScript = request.url?.startsWith("/assets/");
    answer.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    answer.end(isScript ? script : page);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
