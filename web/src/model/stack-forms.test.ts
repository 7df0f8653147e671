import { expect, it } from "vitest";
import { resolveBody, type StoredTrace, stackForms } from "./stack-forms";

const ID = "4c4c44dd55553144a1e29109d2cd8082";
const SYSTEM = "11223344556677889900aabbccddeeff";
const RAW = `Boom\n#00 ${ID} 0x41cc Acme\n#01 ${SYSTEM} 0x1 UIKitCore`;
const RESOLVED = `Boom\n#0  Cart.total() (Cart.swift:12:3)\n#01 ${SYSTEM} 0x1 UIKitCore`;
const need = (debugId: string) => ({ kind: "debug_file", debugId, name: "arm64", path: "", version: null });
const stored = (stack: string, raw: string | null = null): StoredTrace => ({
  stack,
  raw,
  attributes: {},
  version: null,
});

it("a raw trace lists missing symbols, but not those of the operating system", () => {
  const answer = { stackTrace: RAW, frames: 2, resolved: 0, missing: [need(ID), need(SYSTEM)] };
  const forms = stackForms(stored(RAW), answer);
  expect(forms).toMatchObject({
    read: RAW,
    raw: RAW,
    isResolved: false,
    isLate: false,
    form: "ios",
    system: ["UIKitCore"],
  });
  expect(forms.missing).toEqual([need(ID)]);
});

it("symbols uploaded later resolve the trace when it is opened", () => {
  const answer = { stackTrace: RESOLVED, frames: 2, resolved: 1, missing: [need(SYSTEM)] };
  expect(stackForms(stored(RAW), answer)).toMatchObject({
    read: RESOLVED,
    raw: RAW,
    isResolved: true,
    isLate: true,
    missing: [],
  });
});

it("a trace resolved on arrival stays resolved, even after its symbols are deleted", () => {
  const withoutSymbols = { stackTrace: RAW, frames: 2, resolved: 0, missing: [need(ID), need(SYSTEM)] };
  expect(stackForms(stored(RESOLVED, RAW), withoutSymbols)).toMatchObject({
    read: RESOLVED,
    raw: RAW,
    isResolved: true,
    isLate: false,
  });
  const less = { stackTrace: `${RAW} less`, frames: 2, resolved: 1, missing: [need(ID)] };
  expect(stackForms(stored(RESOLVED, RAW), less).read).toBe(RESOLVED);
  const whole = { stackTrace: "whole", frames: 2, resolved: 2, missing: [] };
  expect(stackForms(stored(RESOLVED, RAW), whole)).toMatchObject({ read: "whole", isLate: true });
});

it("for JavaScript that may be source, only the project's missing source maps are listed", () => {
  const text = "E: x\n    at total (/srv/app/cart.js:12:5)";
  const waiting = ["cart.js", "other.js"].map((name) => ({
    kind: "source_map",
    debugId: "",
    name,
    path: name,
    version: "1",
  }));
  expect(stackForms(stored(text)).missing).toEqual([]);
  const ofOne = { ...stored(text), version: "1" };
  expect(stackForms(ofOne, undefined, waiting)).toMatchObject({ sure: false, missing: [waiting[0]] });
  expect(stackForms({ ...ofOne, version: "2" }, undefined, waiting).missing).toEqual([]);
});

it("a symbolic trace has no missing symbols", () => {
  const forms = stackForms(stored('Traceback\n  File "/srv/a.py", line 3, in f'), undefined, [need(ID)]);
  expect(forms).toMatchObject({ form: null, missing: [], isResolved: false });
});

it("the request has the language, the build id and the release that ingest used", () => {
  const android = { ...stored("\tat a.b.a(SourceFile:1)"), attributes: { "app.debug.proguard_uuid": "6c2f7a3e-93a1" } };
  expect(resolveBody(android, { form: "java", sure: true })).toEqual({
    stackTrace: android.stack,
    language: "android",
    debugId: "6c2f7a3e-93a1",
    version: null,
    dist: null,
  });
  const odd = { ...stored(RAW, "raw"), attributes: { "app.debug.build_id": "not an id", dist: "7" }, version: "1.2" };
  expect(resolveBody(odd, { form: "ios", sure: true })).toEqual({
    stackTrace: "raw",
    language: "swift",
    debugId: null,
    version: "1.2",
    dist: "7",
  });
});
