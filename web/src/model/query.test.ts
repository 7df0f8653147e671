import { describe, expect, it } from "vitest";
import {
  allOf,
  completed,
  equals,
  offsetOfByte,
  oneOfTraces,
  quoted,
  remembered,
  terms,
  toggled,
  typedAt,
  withoutTerm,
} from "./query";

const textOf = (query: string) => terms(query).map((term) => term.text);

describe("terms", () => {
  it("splits at spaces outside quotes and brackets", () => {
    expect(textOf('service:checkout level>=error "card declined" -path:/health')).toEqual([
      "service:checkout",
      "level>=error",
      '"card declined"',
      "-path:/health",
    ]);
    expect(textOf('(a OR b) key:(x OR y) k:"v w" route:/users/{id}')).toEqual([
      "(a OR b)",
      "key:(x OR y)",
      'k:"v w"',
      "route:/users/{id}",
    ]);
    expect(textOf("  ")).toEqual([]);
    expect(textOf('"open quote')).toEqual(['"open quote']);
  });
  it("keeps operands with their operator", () => {
    expect(textOf("a OR b c")).toEqual(["a OR b", "c"]);
    expect(textOf("NOT a b")).toEqual(["NOT a", "b"]);
  });
  it("removes one", () => {
    expect(withoutTerm('a "b c" d', 1)).toBe("a d");
  });
});

describe("typedAt", () => {
  const at = (marked: string) => {
    const caret = marked.indexOf("|");
    const { field, prefix } = typedAt(marked.replace("|", ""), caret);
    return [field, prefix];
  };
  it("finds the field or the value at the caret", () => {
    expect(at("ser|")).toEqual([null, "ser"]);
    expect(at("-ser|")).toEqual([null, "ser"]);
    expect(at("service:che|")).toEqual(["service", "che"]);
    expect(at("-service:|")).toEqual(["service", ""]);
    expect(at("a level>=e|")).toEqual(["level", "e"]);
    expect(at('tenant:"ac|')).toEqual(["tenant", "ac"]);
    expect(at('-tenant:"a c|')).toEqual(["tenant", "a c"]);
    expect(at("has:us|")).toEqual([null, "us"]);
    expect(at("(a OR ser|")).toEqual([null, "ser"]);
    expect(at('"card decl|')).toEqual([null, "card decl"]);
    expect(at("a |")).toEqual([null, ""]);
  });
  it("puts the chosen text there", () => {
    const choose = (marked: string, text: string) => {
      const caret = marked.indexOf("|");
      const query = marked.replace("|", "");
      return completed(query, typedAt(query, caret), text).query;
    };
    expect(choose("ser|", "service")).toBe("service:");
    expect(choose("a service:che| b", "checkout")).toBe("a service:checkout b");
    expect(choose('tenant:"ac|', "ac me")).toBe('tenant:"ac me" ');
    expect(choose("has:us|", "user.id")).toBe("has:user.id:");
  });
});

describe("toggled", () => {
  it("adds, replaces and removes a value", () => {
    expect(toggled("", "service", "checkout")).toBe("service:checkout");
    expect(toggled("service:checkout", "service", "checkout")).toBe("");
    expect(toggled("service:checkout a", "service", "checkout", true)).toBe("a -service:checkout");
    expect(toggled("a OR b", "user", "x y")).toBe('(a OR b) user:"x y"');
  });
  it("quotes what has a meaning", () => {
    expect(quoted("/users/{id}")).toBe('"/users/{id}"');
    expect(quoted('say "hi" \\')).toBe('"say \\"hi\\" \\\\"');
    expect(quoted("GET")).toBe("GET");
    expect(quoted("")).toBe('""');
    expect(quoted("a*")).toBe('"a*"');
  });
});

it("converts positions in bytes", () => {
  expect(offsetOfByte("zürich (", 8)).toBe(7);
  expect(offsetOfByte("😀 x", 5)).toBe(3);
  expect(offsetOfByte("ab", 9)).toBe(2);
});

it("remembers each query once, the latest first", () => {
  expect(remembered(["b", "a"], " a ")).toEqual(["a", "b"]);
  expect(remembered(["a"], "  ")).toEqual(["a"]);
});

describe("queries made of parts", () => {
  it.each([
    [[], ""],
    [["error:true", undefined, " "], "error:true"],
    [["a:1 OR a:2", "error:true"], "(a:1 OR a:2) error:true"],
    [["a:1 b:2", "-(c:3 OR c:4)"], "a:1 b:2 (-(c:3 OR c:4))"],
  ])("%j", (parts, wanted) => {
    expect(allOf(...parts)).toBe(wanted);
  });
  it("compares with text as a whole", () => {
    expect(equals("owner", 'GET /a*"b\\')).toBe('owner="GET /a*\\"b\\\\"');
    expect(oneOfTraces(["ab", "cd"])).toBe("trace:(ab OR cd)");
  });
});
