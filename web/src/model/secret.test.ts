import { expect, test } from "vitest";
import { masked, maskIn, unmaskIn } from "./secret";

const TOKEN = "9f2c51e07ab94c0f8d1e3a7b6c5d4e3f";

test("masked text contains only the first four characters of the secret", () => {
  const text = maskIn(`Authorization: Bearer ${TOKEN}\nOTEL=${TOKEN}`, TOKEN);
  expect(text).toBe("Authorization: Bearer 9f2c••••••••••••••••\nOTEL=9f2c••••••••••••••••");
  expect(text).not.toContain(TOKEN.slice(4, 8));
});

test("text copied from masked text contains the real secret, also for a partial selection", () => {
  const text = `a ${TOKEN} b ${TOKEN}`;
  expect(unmaskIn(maskIn(text, TOKEN), TOKEN)).toBe(text);
  expect(unmaskIn(`Bearer ${masked(TOKEN)}"`, TOKEN)).toBe(`Bearer ${TOKEN}"`);
});

test("text without a secret is unchanged", () => {
  for (const secret of [undefined, ""]) {
    expect(maskIn("x", secret)).toBe("x");
    expect(unmaskIn("x", secret)).toBe("x");
  }
});
