// `npm audit` of the browser's packages. Fails on high and critical advisories; prints a message without a registry.
import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";

const FATAL = ["high", "critical"];

/** The message for the JSON output of `npm audit`, and whether the build fails. */
export function verdict(text) {
  let report;
  try {
    report = JSON.parse(text);
  } catch {
    return { fails: false, lines: ["npm audit: it printed no report; not checked"] };
  }
  if (!report.auditReportVersion) {
    const why = report.message ?? report.error?.summary ?? "no report";
    return { fails: false, lines: [`npm audit: the advisories cannot be had here (${why}); not checked`] };
  }
  const found = Object.values(report.vulnerabilities ?? {});
  const lines = found.map(({ name, severity, range }) => `npm audit: ${name} ${range}: ${severity}`);
  const fails = found.some(({ severity }) => FATAL.includes(severity));
  return { fails, lines: lines.length ? lines : ["npm audit: no advisory about what the browser gets"] };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  // Does not wait for a registry that does not answer.
  const options = ["--omit=dev", "--json", "--fetch-retries=0", "--fetch-timeout=20000"];
  const { stdout } = spawnSync("npm", ["audit", ...options], { encoding: "utf8" });
  const { fails, lines } = verdict(stdout ?? "");
  for (const line of lines) console.log(line);
  process.exitCode = fails ? 1 : 0;
}
