import { describe, expect, it } from "vitest";
import { type Frame, foldStack, parseStack } from "./stack";

const frames = (text: string) => parseStack(text).items.filter((item): item is Frame => item.kind === "frame");
const line = (frame: Frame) => `${frame.inApp ? "own" : "lib"} ${frame.fn} ${frame.file}:${frame.line ?? ""}`;

describe("parseStack", () => {
  it.each([
    [
      "V8",
      "TypeError: x\n    at cartTotal (/srv/app/total.ts:18:24)\n    at next (/srv/node_modules/express/route.js:149:13)",
      ["own cartTotal /srv/app/total.ts:18", "lib next /srv/node_modules/express/route.js:149"],
    ],
    [
      "V8 async and anonymous",
      "Error\n    at async run (file:///srv/a.mjs:3:9)\n    at node:internal/main:28:49",
      ["own run file:///srv/a.mjs:3", "lib  node:internal/main:28"],
    ],
    ["JS resolved, two lines", "TypeError: x\nrender()\n    app.ts:12:5\n", ["own render app.ts:12"]],
    [
      "Python",
      'Traceback (most recent call last):\n  File "/srv/a.py", line 3, in f\n    g()\nValueError: no',
      ["own f /srv/a.py:3"],
    ],
    [
      "Java",
      "a.B: no\n\tat com.acme.C.m(C.java:12)\n\tat java.base/java.lang.Thread.run(Thread.java:1583)",
      ["own com.acme.C.m C.java:12", "lib java.lang.Thread.run Thread.java:1583"],
    ],
    [
      "Go",
      "panic: no\n\ngoroutine 1 [running]:\nmain.run(0x1)\n\t/srv/main.go:12 +0x1d\n",
      ["own main.run /srv/main.go:12"],
    ],
    [
      "PHP",
      "PDOException: no\n#0 /srv/src/Repo.php(41): Repo->find()\n#1 /srv/vendor/x/Kernel.php(9): handle()",
      ["own Repo->find() /srv/src/Repo.php:41", "lib handle() /srv/vendor/x/Kernel.php:9"],
    ],
    ["Ruby", "app/models/a.rb:12:in `save!'", ["own save! app/models/a.rb:12"]],
    [
      ".NET",
      "System.X: no\n   at Acme.Cart.Total(Int32 n) in /src/Cart.cs:line 12",
      ["own Acme.Cart.Total(Int32 n) /src/Cart.cs:12"],
    ],
    ["Rust", "  3: shop::cart::total\n             at ./src/cart.rs:12:9", ["own shop::cart::total ./src/cart.rs:12"]],
    ["iOS resolved", "#2  Cart.total() (Cart.swift:12:3)", ["own Cart.total() Cart.swift:12"]],
  ])("%s", (_name, text, want) => {
    expect(frames(text).map(line)).toEqual(want);
  });

  it("selects the innermost in-app frame: last in Python, first in other languages", () => {
    const python = parseStack(
      'Traceback:\n  File "/srv/a.py", line 1, in outer\n    inner()\n  File "/srv/b.py", line 2, in inner\n    lib()\n  File "/x/site-packages/l.py", line 3, in lib\n    boom()\nE: x',
    );
    expect((python.items[python.culprit] as Frame).fn).toBe("inner");
    const js = parseStack("E: x\n    at lib (/srv/node_modules/l.js:1:1)\n    at mine (/srv/a.js:2:2)");
    expect((js.items[js.culprit] as Frame).fn).toBe("mine");
  });

  it("keeps lines that it cannot parse", () => {
    const { items, culprit } = parseStack("something odd\n  not a frame");
    expect(items).toEqual([
      { kind: "text", text: "something odd", heading: false },
      { kind: "text", text: "  not a frame", heading: false },
    ]);
    expect(culprit).toBe(-1);
  });

  it("keeps the source line of Python frames", () => {
    expect(frames('  File "/srv/a.py", line 3, in f\n    g(x)\n      ^^^\n')[0].source).toBe("g(x)");
  });
});

it("folds consecutive library frames, but not a single one", () => {
  const text =
    "E: x\n    at a (/srv/a.js:1:1)\n    at b (/srv/node_modules/b.js:1:1)\n    at c (node:internal/c:1:1)\n    at d (/srv/d.js:1:1)\n    at e (/srv/node_modules/e.js:1:1)";
  expect(
    foldStack(parseStack(text)).map((block) =>
      block.kind === "folded" ? `${block.frames.length} folded` : block.item.kind,
    ),
  ).toEqual(["text", "frame", "2 folded", "frame", "frame"]);
});
