import { expect, it } from "vitest";
import {
  asRole,
  mayCreateProject,
  mayLeave,
  mayManage,
  mayOverride,
  mayRemove,
  mayWrite,
  rolesToGive,
  rolesToInvite,
} from "./roles";

// WIRE 5.3: the owner's role is immutable; only the owner promotes to admin; no member changes their own role.
it.each([
  ["owner", "admin", false, "admin user readonly"],
  ["owner", "readonly", false, "admin user readonly"],
  ["owner", "owner", true, ""],
  ["admin", "owner", false, ""],
  ["admin", "admin", false, ""],
  ["admin", "admin", true, ""],
  ["admin", "user", false, "user readonly"],
  ["user", "readonly", false, ""],
  ["readonly", "user", false, ""],
] as const)("%s may give %s (myself: %s): %j", (mine, theirs, myself, want) => {
  expect(rolesToGive(mine, theirs, myself).join(" ")).toBe(want);
  expect(mayRemove(mine, theirs, myself)).toBe(want !== "");
});

it.each([
  ["owner", "admin user readonly"],
  ["admin", "user readonly"],
  ["user", ""],
  ["readonly", ""],
] as const)("%s may invite as %j", (mine, want) => expect(rolesToInvite(mine).join(" ")).toBe(want));

it.each([
  ["owner", true, true, false],
  ["admin", true, true, true],
  ["user", false, true, true],
  ["readonly", false, false, true],
] as const)("%s: manages %s, writes %s, may leave %s", (role, manages, writes, leaves) => {
  expect([mayManage(role), mayWrite(role), mayLeave(role)]).toEqual([manages, writes, leaves]);
});

it("roles per project are for users and read-only members", () => {
  expect(mayOverride("admin", "user", false)).toBe(true);
  expect(mayOverride("admin", "admin", false)).toBe(false);
  expect(mayOverride("user", "user", false)).toBe(false);
  expect(mayOverride("owner", "readonly", true)).toBe(false);
});

it("an unknown role has the lowest permissions", () => expect(asRole("superuser")).toBe("readonly"));

it("a project is created in an organization with write access", () => {
  expect(mayCreateProject([{ role: "readonly" }, { role: "user" }])).toBe(true);
  expect(mayCreateProject([{ role: "readonly" }])).toBe(false);
  expect(mayCreateProject(undefined)).toBe(false);
});
