import { expect, test } from "vitest";
import { repositoryPath, sourceLink } from "./source-link";

test("paths in the repository", () => {
  for (const [file, root, expected] of [
    ["/srv/shop/src/a.ts", "/srv/shop", "src/a.ts"],
    ["/srv/shop/src/a.ts", "/srv/shop/", "src/a.ts"],
    ["/srv/shopping/a.ts", "/srv/shop", null],
    ["/usr/lib/a.py", "/srv/shop", null],
    ["src/a.ts", "", "src/a.ts"],
    ["./src/a.ts", "", "src/a.ts"],
    ["webpack://shop/src/a.ts", "", "src/a.ts"],
    ["C:\\shop\\src\\a.cs", "C:\\shop", "src/a.cs"],
    ["src/../../secret", "", null],
    ["", "", null],
  ] as const)
    expect(repositoryPath(file, root), file).toBe(expected);
});

test("links of own frames", () => {
  const host = { template: "https://code.example/{commit}/{path}#L{line}", root: "/srv", commit: "ab/c" };
  const frame = { file: "/srv/a b.ts", line: 7, inApp: true };
  expect(sourceLink(host, frame)).toBe("https://code.example/ab%2Fc/a%20b.ts#L7");
  expect(sourceLink({ ...host, commit: "" }, frame)).toBeNull();
  expect(sourceLink({ ...host, template: "" }, frame)).toBeNull();
  expect(sourceLink(host, { ...frame, inApp: false })).toBeNull();
  expect(sourceLink(host, { ...frame, line: null })).toBeNull();
  expect(sourceLink({ ...host, template: "javascript:alert('{path}')" }, frame)).toBeNull();
  expect(sourceLink(host, { ...frame, file: "/srv/{line}.ts" })).toBe("https://code.example/ab%2Fc/%7Bline%7D.ts#L7");
});
