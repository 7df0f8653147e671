// The categorical colours of the style sheet are distinguishable with every kind of colour vision, contrast with the
// background, and differ from the colours of errors and warnings.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

type Rgb = [number, number, number];
const CSS = readFileSync(new URL("../styles/tokens.css", import.meta.url), "utf8");

/** Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB. */
const SIGHTS: Record<string, Rgb[]> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const linear = (hex: string): Rgb =>
  [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
const dot = (a: Rgb, b: Rgb) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const seen = (rgb: Rgb, sight: Rgb[]): Rgb => sight.map((row) => Math.max(0, Math.min(1, dot(row, rgb)))) as Rgb;
function oklab(rgb: Rgb): Rgb {
  const l = Math.cbrt(dot([0.4122214708, 0.5363325363, 0.0514459929], rgb));
  const m = Math.cbrt(dot([0.2119034982, 0.6806995451, 0.1073969566], rgb));
  const s = Math.cbrt(dot([0.0883024619, 0.2817188376, 0.6299787005], rgb));
  return [
    dot([0.2104542553, 0.793617785, -0.0040720468], [l, m, s]),
    dot([1.9779984951, -2.428592205, 0.4505937099], [l, m, s]),
    dot([0.0259040371, 0.7827717662, -0.808675766], [l, m, s]),
  ];
}
const hue = (hex: string) => {
  const [, a, b] = oklab(linear(hex));
  return ((Math.atan2(b, a) * 180) / Math.PI + 360) % 360;
};
const luminance = (hex: string) => dot([0.2126, 0.7152, 0.0722], linear(hex));
const contrast = (a: string, b: string) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};

const [light, dark] = CSS.split('[data-theme="dark"] {').slice(0, 2);
describe.each([
  ["light", light],
  ["dark", dark],
])("%s", (_theme, block) => {
  const token = (name: string) => new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(block)?.[1] ?? "";
  const colours = Array.from({ length: 8 }, (_, i) => token(`c${i + 1}`));

  it("has no red and no yellow", () => {
    // OKLCH: red is around 27 degrees, yellow around 110, orange and brown between them.
    for (const colour of colours) expect([colour, hue(colour) > 125 && hue(colour) < 345]).toEqual([colour, true]);
  });

  it("is distinguishable with every kind of colour vision", () => {
    for (const [name, sight] of Object.entries(SIGHTS)) {
      const shown = colours.map((colour) => oklab(seen(linear(colour), sight)));
      for (let i = 0; i < shown.length; i++)
        for (let j = 0; j < i; j++) {
          const distance = 100 * Math.hypot(...shown[i].map((value, axis) => value - shown[j][axis]));
          expect([name, colours[i], colours[j], distance >= 8.9]).toEqual([name, colours[i], colours[j], true]);
        }
    }
  });

  it("has no near-black and no near-white", () => {
    for (const colour of colours) {
      const [lightness] = oklab(linear(colour));
      expect([colour, lightness >= 0.41 && lightness <= 0.93]).toEqual([colour, true]);
    }
  });

  it("contrasts with the background and panels", () => {
    for (const colour of colours)
      for (const ground of [token("bg"), token("panel")])
        expect([colour, contrast(colour, ground) >= 3.1]).toEqual([colour, true]);
  });
});
