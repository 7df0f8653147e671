// The arrows of web/src: main > router > routes > pages > parts > viz > ui > api > model.
import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Findings, findingsOf, LAYERS, layerOf, REPLAY_FRAME, SHARED_PAGES } from "./arrows.ts";
import { isReadable, type SourceFile } from "./imports.ts";

const root = new URL("../", import.meta.url).pathname;
const NOTHING: Findings = { upward: [], betweenPages: [], circles: [], unresolved: [], impure: [], tooLong: [] };

describe("web/src", () => {
  /** Files that are not read, and why. */
  const UNREAD = new Map([["model/schema.d.ts", "generated from docs/openapi.json"]]);
  const entries = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(root, "src/").length))
    .sort();
  const read = paths.filter((path) => isReadable(path) && !UNREAD.has(path));
  const files = read.map((path) => ({ path, content: readFileSync(join(root, "src", path), "utf8") }));

  // The time is for a machine that does much else: parsing takes about a second.
  it("has only imports that lead down, no circles, and no file that is too long", { timeout: 60_000 }, () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const isPackage = (name: string) => isBuiltin(name) || name in dependencies || name in devDependencies;
    expect(findingsOf(files, [...UNREAD.keys()], isPackage)).toEqual(NOTHING);
  });

  it("is read completely", () => {
    const unread = paths.filter((path) => !read.includes(path));
    const named = unread.map((path) => `${path} (${UNREAD.get(path) ?? "unknown kind of file"})`);
    console.log(`arrows: ${read.length} files read, ${unread.length} not read: ${named.join(", ") || "none"}`);
    expect(unread).toEqual([...UNREAD.keys()]);
    expect(read.length).toBeGreaterThan(400);
  });

  it("has no layer and no shared room without a file", () => {
    const found = new Set(paths.map(layerOf));
    expect([...found].sort()).toEqual([...LAYERS, REPLAY_FRAME.folder].sort());
    const routes = files.filter((file) => layerOf(file.path) === "routes");
    for (const room of SHARED_PAGES) {
      expect(read.filter((path) => path.startsWith(`pages/${room}/`))).not.toEqual([]);
      expect(routes.filter((file) => file.content.includes(`/pages/${room}/`))).toEqual([]);
    }
  });
});

/** Files of a tree that holds no others; their lines are separated by `;`. */
function check(tree: Record<string, string>): Partial<Findings> {
  const files: SourceFile[] = Object.entries(tree).map(([path, content]) => ({
    path,
    content: content.replaceAll(";", ";\n"),
  }));
  const found = findingsOf(files, [], (name) => ["react", "@scope/name"].includes(name));
  return Object.fromEntries(Object.entries(found).filter(([, list]) => list.length > 0));
}

describe("the guard finds", () => {
  const model = { "model/a.ts": "export const a = 1" };
  it.each<[string, Record<string, string>, Partial<Findings>]>([
    ["nothing in an arrow that leads down", { "ui/b.tsx": `import { a } from "../model/a"`, ...model }, {}],
    ["nothing within a layer", { "model/b.ts": `export * from "./a"`, ...model }, {}],
    [
      "an import of a type that leads up",
      { "model/b.ts": `import type { P } from "../pages/p/P"`, "pages/p/P.tsx": "" },
      { upward: ["model/b.ts:1 -> pages/p/P.tsx"] },
    ],
    [
      "a dynamic import that leads up",
      { "parts/b.ts": `;const P = () => import("../pages/p/P")`, "pages/p/P.tsx": "" },
      { upward: ["parts/b.ts:2 -> pages/p/P.tsx"] },
    ],
    [
      "a type query that leads up",
      { "api/b.ts": `type P = typeof import("../ui/c")`, "ui/c.ts": "" },
      { upward: ["api/b.ts:1 -> ui/c.ts"] },
    ],
    [
      "a re-export that leads up",
      { "ui/b.ts": `export { c } from "../viz/c"`, "viz/c/index.tsx": "" },
      { upward: ["ui/b.ts:1 -> viz/c/index.tsx"] },
    ],
    [
      "a re-export of types that leads up",
      { "ui/b.ts": `export type * from "../viz/c"`, "viz/c.d.ts": "" },
      { upward: ["ui/b.ts:1 -> viz/c.d.ts"] },
    ],
    [
      "an import for its effect, and a mock in a test",
      { "model/b.test.ts": `import "../main";vi.mock("../router")`, "main.tsx": "", "router.tsx": "" },
      { upward: ["model/b.test.ts:1 -> main.tsx", "model/b.test.ts:2 -> router.tsx"] },
    ],
    [
      "a file in a folder that is no layer",
      { "helpers/b.ts": `import { a } from "../model/a"`, ...model },
      { upward: ["helpers/b.ts:1 -> model/a.ts"] },
    ],
    [
      "a style sheet that leads up",
      { "styles/b.css": `@import "../ui/c.css"`, "ui/c.css": "" },
      { upward: ["styles/b.css:1 -> ui/c.css"] },
    ],
    [
      "what is imported of the replay frame besides its protocol",
      {
        "parts/b.ts": `import "../replay-frame/protocol";import "../replay-frame/css"`,
        "viz/b.ts": `import "../replay-frame/protocol"`,
        "replay-frame/css.ts": `import "../model/a"`,
        "replay-frame/protocol.ts": "",
        ...model,
      },
      {
        upward: [
          "parts/b.ts:2 -> replay-frame/css.ts",
          "viz/b.ts:1 -> replay-frame/protocol.ts",
          "replay-frame/css.ts:1 -> model/a.ts",
        ],
      },
    ],
    [
      "a page that imports another page",
      {
        "pages/p/P.tsx": `import { Q } from "../q/Q";import "../entities/E"`,
        "pages/q/Q.tsx": "",
        "pages/entities/E.tsx": "",
      },
      { betweenPages: ["pages/p/P.tsx:1 -> pages/q/Q.tsx"] },
    ],
    [
      "a shared room that imports a page",
      { "pages/entities/E.tsx": `import "../q/Q"`, "pages/q/Q.tsx": "" },
      { betweenPages: ["pages/entities/E.tsx:1 -> pages/q/Q.tsx"] },
    ],
    [
      "a circle, also of types, and a file that imports itself",
      {
        "ui/a.ts": `import "./b"`,
        "ui/b.ts": `import "./c"`,
        "ui/c.ts": `import type { A } from "./a";import "./d"`,
        "ui/d.ts": "",
        "ui/e.ts": `import "./e"`,
      },
      { circles: [["ui/a.ts", "ui/b.ts", "ui/c.ts"], ["ui/e.ts"]] },
    ],
    [
      "two circles that share a way",
      {
        "ui/a.ts": `import "./b";import "./c"`,
        "ui/b.ts": `import "./a";import "./c"`,
        "ui/c.ts": `import "./d"`,
        "ui/d.ts": `import "./c"`,
      },
      {
        circles: [
          ["ui/c.ts", "ui/d.ts"],
          ["ui/a.ts", "ui/b.ts"],
        ],
      },
    ],
    [
      "an alias, a folder outside, a missing file and computed names",
      {
        "ui/b.ts": `import "@/model/a";import "../../e2e/x";import "./none";import(name);import.meta.glob("./*");require("fs")`,
      },
      {
        unresolved: [
          "ui/b.ts:4: computed",
          "ui/b.ts:5: computed",
          "ui/b.ts:1: @/model/a",
          "ui/b.ts:2: ../../e2e/x",
          "ui/b.ts:3: ./none",
          "ui/b.ts:6: fs",
        ],
      },
    ],
    [
      "a package in the pure layer",
      {
        "model/b.ts": `import "react";import "@scope/name/file"`,
        "ui/b.ts": `import "react"`,
        "model/b.test.ts": `import "react"`,
      },
      { impure: ["model/b.ts:1: react", "model/b.ts:2: @scope/name/file"] },
    ],
    ["nothing in 500 lines", { "ui/b.ts": ";".repeat(500) }, {}],
    ["501 lines", { "ui/b.ts": ";".repeat(501) }, { tooLong: ["ui/b.ts: 501 lines"] }],
    ["no import in a comment or a string", { "ui/b.ts": `// import "./none"\nconst c = 'import "./none"'` }, {}],
  ])("%s", (_, tree, expected) => {
    expect(check(tree)).toEqual(expected);
  });
});
