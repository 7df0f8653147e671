import { expect, it } from "vitest";
import { consentTarget, safePath } from "./safe-path";

it.each([
  ["/", "/"],
  ["/p/1/endpoints?sort=-count", "/p/1/endpoints?sort=-count"],
  ["/device?user_code=ABCD-EFGH", "/device?user_code=ABCD-EFGH"],
  ["/oauth/authorize?redirect_uri=http://127.0.0.1:9/cb", "/oauth/authorize?redirect_uri=http://127.0.0.1:9/cb"],
  [undefined, null],
  ["", null],
  ["//evil.example", null],
  ["/\\evil.example", null],
  ["\\/evil.example", null],
  ["/\t/evil.example", null],
  ["/\n//evil.example", null],
  ["/.//evil.example", null],
  ["/a/..//evil.example", null],
  [" /x", null],
  ["https://evil.example", null],
  ["javascript:alert(1)", null],
  ["p/1", null],
  ["/@evil.example", "/@evil.example"],
])("after sign-in, %j redirects to %j", (text, want) => expect(safePath(text)).toBe(want));

it.each([
  ["http://127.0.0.1:7/cb?code=1", "http://127.0.0.1:7/cb", "http://127.0.0.1:7/cb?code=1"],
  ["cursor://oauth/cb?code=1", "cursor://oauth/cb", "cursor://oauth/cb?code=1"],
  ["http://127.0.0.1:8/cb?code=1", "http://127.0.0.1:7/cb", null],
  ["https://evil.example/cb?code=1", "https://app.example/cb", null],
  ["https://app.example/other?code=1", "https://app.example/cb", null],
  ["javascript:alert(1)", "javascript:alert(1)", null],
  ["not an address", "https://app.example/cb", null],
])("consent redirects %j for %j: %j", (target, shown, want) => expect(consentTarget(target, shown)).toBe(want));
