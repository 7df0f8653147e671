// Builds /replay-frame.html: a document with one inline script, which the server's policy permits by its hash.
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Plugin } from "vite";
import { build } from "vite";

const PATH = "/replay-frame.html";

/** The frame's script as one classic script. It must not end its own element. */
async function bundle(root: string): Promise<string> {
  const result = await build({
    root,
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    build: {
      write: false,
      target: "es2022",
      minify: true,
      modulePreload: { polyfill: false },
      rolldownOptions: { input: join(root, "src/replay-frame/frame.ts"), output: { format: "iife" } },
    },
  });
  const [{ output }] = [result].flat() as { output: { type: string; code?: string }[] }[];
  const scripts = output.filter((one) => one.type === "chunk");
  if (scripts.length !== 1) throw new Error(`the replay frame must be one script, not ${scripts.length}`);
  return (scripts[0].code ?? "")
    .trim()
    .replaceAll("\r", "\\r")
    .replaceAll("</script", "<\\/script")
    .replaceAll("<!--", "\\x3C!--");
}

const document = (script: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Recorded page</title>
<style>html,body{margin:0;height:100%;overflow:hidden}iframe{display:block;width:100%;height:100%;border:0}</style>
</head>
<body><script>${script}</script></body>
</html>
`;

/** For the development server alone. The real one is crates/server/src/http/ui.rs. */
const policy = (script: string) =>
  `default-src 'none'; script-src 'sha256-${createHash("sha256").update(script).digest("base64")}'; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`;

export function replayFrame(root: string): Plugin {
  return {
    name: "tidewatch-replay-frame",
    async generateBundle() {
      this.emitFile({ type: "asset", fileName: PATH.slice(1), source: document(await bundle(root)) });
    },
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        if (request.url?.split("?")[0] !== PATH) return next();
        bundle(root).then((script) => {
          response.setHeader("content-type", "text/html; charset=utf-8");
          response.setHeader("content-security-policy", policy(script));
          response.end(document(script));
        }, next);
      });
    },
  };
}
