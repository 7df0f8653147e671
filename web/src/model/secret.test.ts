import { expect, test } from "vitest";
import { masked, maskIn, unmaskIn } from "./secret";

const TOKEN = "9f2c51e07ab94c0f8d1e3a7b6c5d4e3f";

test("a masked text holds nothing of the secret but its first four characters", () => {
  const text = maskIn(`Authorization: Bearer ${TOKEN}\nOTEL=${TOKEN}`, TOKEN);
  expect(text).toBe("Authorization: Bearer 9f2c••••••••••••••••\nOTEL=9f2c••••••••••••••••");
  expect(text).not.toContain(TOKEN.slice(4, 8));
});

test("what is copied out of a masked text is whole again, in part too", () => {
  const text = `a ${TOKEN} b ${TOKEN}`;
  expect(unmaskIn(maskIn(text, TOKEN), TOKEN)).toBe(text);
  expect(unmaskIn(`Bearer ${masked(TOKEN)}"`, TOKEN)).toBe(`Bearer ${TOKEN}"`);
});

test("without a secret a text stays as it is", () => {
  for (const secret of [undefined, ""]) {
    expect(maskIn("x", secret)).toBe("x");
    expect(unmaskIn("x", secret)).toBe("x");
  }
});
