import { expect, test } from "vitest";
import { forgetLinkToken, keepLinkToken, keptLinkToken, linkTokenIn } from "./link-token";

test("the secret of a link is in its fragment, or where earlier versions had it", () => {
  for (const [hash, search, expected] of [
    ["#token=twr_1", {}, "twr_1"],
    ["token=twr_1", {}, "twr_1"],
    ["", { token: "twr_2" }, "twr_2"],
    ["#token=twr_1", { token: "twr_2" }, "twr_1"],
    ["#token=", {}, null],
    ["#main", {}, null],
    ["", {}, null],
  ] as const)
    expect(linkTokenIn(hash, search)).toBe(expected);
});

test("the secret is stored for its page until it is used, also without session storage", () => {
  keepLinkToken("/reset-password", "twr_1");
  expect(keptLinkToken("/reset-password")).toBe("twr_1");
  expect(keptLinkToken("/accept-invitation")).toBe("");
  forgetLinkToken("/reset-password");
  expect(keptLinkToken("/reset-password")).toBe("");
});
