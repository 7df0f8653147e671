import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { csvOf, curlOf } from "./table-export";

describe("CSV", () => {
  it("quotes what would end a cell, and writes missing values as empty ones", () => {
    expect(
      csvOf([
        { name: 'POST "a", b', count: 3 },
        { name: "x\ny", more: { a: 1 } },
      ]),
    ).toBe('name,count,more\r\n"POST ""a"", b",3,\r\n"x\ny",,"{""a"":1}"\r\n');
  });

  it("has no formulas, but negative numbers", () => {
    expect(csvOf([{ name: "=cmd|' /C calc'!A0", delta: -4 }])).toBe("name,delta\r\n'=cmd|' /C calc'!A0,-4\r\n");
  });
});

describe("a command", () => {
  it("is one that a shell reads back as the request", () => {
    const body = { query: `it's "a" $HOME \`x\`\nline`, page: 1 };
    const command = curlOf("https://host/api/endpoints/grouped?projectId=1&a=b", body);
    const shown = execFileSync("sh", ["-c", command.replace(/^curl/, 'printf "%s\\n" ')], {
      env: { TIDEWATCH_TOKEN: "twp_1" },
    }).toString();
    const [url, , authorization] = shown.split("\n");
    expect(url).toBe("https://host/api/endpoints/grouped?projectId=1&a=b");
    expect(authorization).toBe("Authorization: Bearer twp_1");
    expect(JSON.parse(shown.slice(shown.indexOf("{")))).toEqual(body);
  });
});
