import { expect, it } from "vitest";
import { imageNames, isSystemImage, osOf, rawForm, scriptNames } from "./raw-stack";

const IOS = `Fatal Signal SIGABRT (6)
*** *** ***
os: ios arch: arm64
#00 4c4c44a355553144a12a687ac92aaa41 0x4548 Acme Kit
#01 11223344556677889900AABBCCDDEEFF 0x1f0 UIKitCore`;
const DART = `type 'Null' is not a subtype of type 'String'
os: android arch: arm64 comp: no sim: no
build_id: 'd4bf24904c59067fc89f78accf7026e6'
    #00 abs 80b110da virt 000010da _kDartIsolateSnapshotInstructions+0x9a`;
const NATIVE = "#00 pc 000000000001a2b4  /data/app/base.apk!libshop.so (crash+12) (BuildId: 9f2c51e07ab94c0f)";

it.each([
  ["iOS", IOS, "ios", true],
  ["Dart", DART, "dart", true],
  ["native code of Android", NATIVE, "native", true],
  ["R8, short names", "java.lang.Error: x\n\tat a.b.c0.a(SourceFile:12)", "java", true],
  ["R8, id in the frame", "\tat com.acme.Cart.add(r8-map-id-9f2c51e0:12)", "java", true],
  ["JavaScript, .min.js", "Error: x\n    at t (https://shop.example/app.min.js?v=3:2:5)", "script", true],
  ["JavaScript, one long line", "Error: x\n    at t (/srv/app/main.js:1:48211)", "script", true],
  ["JavaScript, hashed name", "t@/assets/index-B7x9Qa2c.js:3:5", "script", true],
  ["JavaScript, of a browser", "    at https://shop.example/cart.js:12:5", "script", true],
  ["React Native", "t@index.android.bundle:1:2", "script", true],
  ["JavaScript as written", "Error: x\n    at total (/srv/app/cart.js:12:5)", "script", false],
  ["a development server", "    at total (http://localhost:5173/src/cart.js:12:5)", "script", false],
])("%s needs symbols", (_name, text, form, sure) => {
  expect(rawForm(text)).toEqual({ form, sure });
});

it.each([
  ["nothing", ""],
  [
    "Java",
    "java.lang.Error: x\n\tat com.acme.Cart.total(Cart.java:12)\n\tat java.base/java.lang.Thread.run(Thread.java:1)",
  ],
  ["a Java proxy", "\tat jdk.proxy2.$Proxy42.run(Unknown Source)"],
  ["Python", 'Traceback (most recent call last):\n  File "/srv/a.py", line 3, in f\n    g()'],
  ["Go", "main.main()\n\t/srv/main.go:12 +0x1d"],
  ["TypeScript", "    at total (/srv/app/cart.ts:12:5)"],
  ["resolved iOS", "#0  Cart.total() (Cart.swift:12:3)"],
  ["libraries only", "    at run (node:internal/a.js:1:2)\n    at lib (/srv/node_modules/b/b.min.js:1:4000)"],
])("%s does not need symbols", (_name, text) => {
  expect(rawForm(text)).toBeNull();
});

it("maps debug ids to images", () => {
  expect([...imageNames(IOS)]).toEqual([
    ["4c4c44a355553144a12a687ac92aaa41", "Acme Kit"],
    ["11223344556677889900aabbccddeeff", "UIKitCore"],
  ]);
  expect([...imageNames(NATIVE)]).toEqual([["9f2c51e07ab94c0f", "libshop.so"]]);
  expect(osOf(DART)).toBe("android");
});

it("detects images of the operating system", () => {
  expect(["UIKitCore", "libsystem_kernel.dylib", "libswiftCore.dylib", "dyld"].every(isSystemImage)).toBe(true);
  expect(["AcmeApp", "libshop.so", "", undefined].some(isSystemImage)).toBe(false);
});

it("names scripts as the server looks them up", () => {
  const text =
    "at a (https://x.example/a/app.js?v=1:1:2)\nb@b.mjs:3:4\nat c (/srv/node_modules/c.js:1:1)\nat d (cart.ts:1:1)";
  expect([...scriptNames(text)]).toEqual(["app.js", "b.mjs"]);
});

it("finds nothing in endless lines", () => {
  for (const line of [
    "at a".repeat(20_000),
    `${"a.".repeat(40_000)}(`,
    `#1 pc ${"f".repeat(80_000)}`,
    "(".repeat(80_000),
  ])
    expect(rawForm(`${line}\n`.repeat(3))).toBeNull();
});
