import { expect, it } from "vitest";
import { actionWords, plainValue, targetWords } from "./audit";

it.each([
  ["member.role_changed", "Member: role changed"],
  ["login", "Login"],
  ["two-factor.totp.removed", "Two factor: totp removed"],
  ["", "–"],
])("action %j reads %j", (action, want) => expect(actionWords(action)).toBe(want));

it.each([
  [null, "–"],
  ["", "–"],
  [0, "0"],
  [false, "false"],
  [{ from: "user" }, '{"from":"user"}'],
  ["x".repeat(400), `${"x".repeat(300)}…`],
])("detail %j reads %j", (value, want) => expect(plainValue(value)).toBe(want));

it.each([
  ["bob@example.com", "bob@example.com"],
  [{ id: 7, name: "shop" }, "shop"],
  [{ id: 7 }, "7"],
  [{ kind: "token" }, '{"kind":"token"}'],
  [undefined, "–"],
])("target %j reads %j", (value, want) => expect(targetWords(value)).toBe(want));
