import { afterEach, expect, it } from "vitest";
import { toLocalInput } from "./range";
import { clockMinutes, dateTime, exactTime, setTimeZone, timeZone } from "./time";
import { isZone, wallClockMs, zoneOffsetMinutes, zones } from "./zones";

afterEach(() => setTimeZone(null));

const NOON = Date.UTC(2026, 6, 1, 12, 0, 0);

it("times are shown in the preferred zone", () => {
  setTimeZone("Asia/Tokyo");
  expect(dateTime(NOON)).toBe("1 Jul 21:00:00");
  expect(exactTime("2026-07-01T12:00:00.5Z")).toBe("1 Jul 2026 21:00:00.500");
  expect(clockMinutes(NOON)).toBe("21:00");
  expect(toLocalInput(NOON)).toBe("2026-07-01T21:00:00");
  setTimeZone("America/New_York");
  expect(dateTime(NOON)).toBe("1 Jul 08:00:00");
});

it("an unknown zone falls back to the browser's", () => {
  setTimeZone("Mars/Olympus");
  expect(timeZone()).toBe(Intl.DateTimeFormat().resolvedOptions().timeZone);
});

it.each([
  ["UTC", 0],
  ["Europe/Berlin", 120],
  ["Asia/Kolkata", 330],
  ["America/New_York", -240],
])("%s is %s min ahead in July", (zone, want) => expect(zoneOffsetMinutes(zone, NOON)).toBe(want));

it.each([
  ["2026-07-01T14:00:00", "Europe/Berlin", "2026-07-01T12:00:00.000Z"],
  ["2026-01-01T14:00", "Europe/Berlin", "2026-01-01T13:00:00.000Z"],
  ["2026-07-01T12:00:00", "UTC", "2026-07-01T12:00:00.000Z"],
  // The repeated hour (25 October, 03:00 back to 02:00): its first occurrence.
  ["2026-10-25T02:30:00", "Europe/Berlin", "2026-10-25T00:30:00.000Z"],
  ["2026-10-25T04:00:00", "Europe/Berlin", "2026-10-25T03:00:00.000Z"],
  ["2026-03-29T04:00:00", "Europe/Berlin", "2026-03-29T02:00:00.000Z"],
])("%s in %s is %s", (text, zone, want) => expect(new Date(wallClockMs(text, zone)).toISOString()).toBe(want));

it("text that is not a time is not an instant", () => expect(wallClockMs("", "UTC")).toBeNaN());

it("the list starts with UTC and includes a zone that only the server supports", () => {
  expect(zones()[0]).toBe("UTC");
  expect(zones("Europe/Kyiv")).toContain("Europe/Kyiv");
  expect(isZone("Nowhere")).toBe(false);
});
