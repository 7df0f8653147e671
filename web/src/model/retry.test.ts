import { expect, it } from "vitest";
import { retryAfterSeconds, secondsLeft } from "./retry";

const NOW = Date.UTC(2026, 10, 21, 8, 0, 0);

it.each([
  ["42", 42],
  [" 7 ", 7],
  ["0", null],
  [null, null],
  ["soon", null],
  ["Sat, 21 Nov 2026 08:01:30 GMT", 90],
  ["Sat, 21 Nov 2026 07:00:00 GMT", null],
])("Retry-After %j: %s s", (header, want) => expect(retryAfterSeconds(header, NOW)).toBe(want));

it.each([
  [42_000, 42],
  [41_001, 42],
  [1, 1],
  [0, 0],
  [-5, 0],
])("%s ms left: %s s", (gap, want) => expect(secondsLeft(NOW + gap, NOW)).toBe(want));
