import { expect, it } from "vitest";
import { consentProblem, redirectHost } from "./consent";
import { isUserCode, userCode } from "./user-code";

const GOOD = {
  response_type: "code",
  client_id: "c1",
  redirect_uri: "http://127.0.0.1:7777/cb",
  code_challenge: "x",
  code_challenge_method: "S256",
};

it.each([
  [{}, null],
  [{ response_type: undefined, code_challenge_method: undefined }, null],
  [{ client_id: undefined }, "client_id is missing"],
  [{ redirect_uri: undefined }, "redirect_uri is missing"],
  [{ redirect_uri: "javascript:alert(1)" }, "redirect_uri"],
  [{ response_type: "token" }, "response_type token"],
  [{ code_challenge: undefined }, "code_challenge is missing"],
  [{ code_challenge_method: "plain" }, "code_challenge_method plain"],
])("consent with %j: %j", (change, want) => {
  const problem = consentProblem({ ...GOOD, ...change });
  if (want === null) expect(problem).toBeNull();
  else expect(problem).toContain(want);
});

it.each([
  ["http://127.0.0.1:7777/cb", "127.0.0.1:7777 on this computer"],
  ["http://localhost:1/cb", "localhost:1 on this computer"],
  ["https://app.example/cb", "app.example"],
  ["https://localhost.evil.example/cb", "localhost.evil.example"],
  ["https://user:pass@evil.example/cb", "evil.example"],
  ["cursor://oauth/cb", "the cursor:// app on this computer"],
  ["data:text/html,x", null],
  ["nonsense", null],
])("the answer to %s goes to %s", (uri, want) => expect(redirectHost(uri)).toBe(want));

it.each([
  ["abcdefgh", "ABCD-EFGH"],
  ["abcd efgh", "ABCD-EFGH"],
  ["ABCD-", "ABCD"],
  ["wdjb-mjht-more", "WDJB-MJHT"],
  ["", ""],
])("typed %j reads %j", (text, want) => expect(userCode(text)).toBe(want));

it("a code is complete with eight characters", () => {
  expect(isUserCode("ABCD-EFGH")).toBe(true);
  expect(isUserCode("ABCD-EFG")).toBe(false);
});
