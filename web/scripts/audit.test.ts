import { expect, test } from "vitest";

const script = new URL("./audit.mjs", import.meta.url).pathname;
const { verdict } = await import(/* @vite-ignore */ script);

const report = (...found: { name: string; severity: string }[]) =>
  JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities: Object.fromEntries(found.map((one) => [one.name, { ...one, range: "<2" }])),
  });

test("a severe advisory fails, another one is printed", () => {
  const mild = { name: "mild", severity: "moderate" };
  expect(verdict(report()).fails).toBe(false);
  expect(verdict(report(mild))).toEqual({ fails: false, lines: ["npm audit: mild <2: moderate"] });
  for (const severity of ["high", "critical"]) {
    const { fails, lines } = verdict(report(mild, { name: "bad", severity }));
    expect([fails, lines.length]).toEqual([true, 2]);
  }
});

test("without a registry nothing fails, and a message is printed", () => {
  for (const text of ["", "not JSON", "{}", JSON.stringify({ message: "405 Method Not Allowed", statusCode: 405 })]) {
    const { fails, lines } = verdict(text);
    expect(fails).toBe(false);
    expect(lines[0]).toContain("not checked");
  }
});
