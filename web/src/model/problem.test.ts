import { expect, it } from "vitest";
import { oauthErrorWords } from "./oauth-words";
import { problemWords } from "./problem";

it.each([
  [{ status: 400, message: "the name is too long" }, {}, "The name is too long."],
  [{ status: 401, message: "unauthorized" }, { 401: "The password is wrong." }, "The password is wrong."],
  [{ status: 0, message: "The server did not answer." }, {}, "The server did not answer."],
  [{ message: "" }, {}, "Something went wrong."],
])("%j reads well", (error, own, want) => expect(problemWords(error, own)).toBe(want));

it("429 refers to the countdown, 403 to owners and admins", () => {
  expect(problemWords({ status: 429, message: "rate limited" })).toContain("countdown");
  expect(problemWords({ status: 403, message: "only owners may do this" })).toContain(
    "Only owners may do this. If you need it, ask an owner",
  );
});

it.each([
  "oauth_no_email",
  "oauth_email_unverified",
  "invite_required",
  "oauth_denied",
  "oauth_state",
  "oauth_link_refused",
  "oauth_not_fresh",
  "oauth_other_person",
  "oauth_failed",
])("%s has its own message", (code) => {
  expect(oauthErrorWords(code)).toBeTruthy();
  expect(oauthErrorWords(code)).not.toBe(oauthErrorWords("something_new"));
});

it("unknown codes are never shown as text", () => {
  expect(oauthErrorWords("<b>call 555</b>")).toBe("Signing in through the provider did not work. Try again.");
  expect(oauthErrorWords(undefined)).toBeNull();
});
