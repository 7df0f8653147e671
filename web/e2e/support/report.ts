// The last lines of a run: the slowest files, what was not done, the counts, and the folder of the failures.
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { FullConfig, Reporter, Suite, TestCase, TestResult } from "@playwright/test/reporter";

const SLOWEST = 10;
/** The type of annotations that name what a test did not check. */
export const NOT_DONE = "not done";

const inMinutes = (ms: number) => `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;

export default class Report implements Reporter {
  private suite: Suite | undefined;
  private folder = "";
  private readonly begun = Date.now();
  private readonly files = new Map<string, { ms: number; tests: number }>();
  private readonly notDone: string[] = [];

  onBegin(config: FullConfig, suite: Suite): void {
    this.suite = suite;
    this.folder = config.projects[0]?.outputDir ?? "";
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    const name = basename(test.location.file);
    const file = this.files.get(name) ?? { ms: 0, tests: 0 };
    this.files.set(name, { ms: file.ms + result.duration, tests: file.tests + 1 });
    for (const { type, description } of result.annotations)
      if (type === NOT_DONE) this.notDone.push(`${name}: ${description}`);
  }

  onEnd(): void {
    // With --list, nothing runs.
    if (this.files.size === 0) return;
    const tests = this.suite?.allTests() ?? [];
    const of = (outcome: string) => tests.filter((test) => test.results.length && test.outcome() === outcome);
    const skipped = of("skipped").map((test) => {
      const why = test.annotations.find(({ type }) => type === "skip" || type === "fixme")?.description;
      return `${basename(test.location.file)}: ${test.title}${why ? `: ${why}` : ""}`;
    });
    const unrun = tests.filter((test) => !test.results.length);
    const all = [...this.files].sort(([, a], [, b]) => b.ms - a.ms);
    const lines = [
      "",
      "Slowest files:",
      ...all
        .slice(0, SLOWEST)
        .map(([name, { ms, tests }]) => `${(ms / 1000).toFixed(1).padStart(8)} s  ${name}, ${tests} tests`),
    ];
    const left = [
      ...this.notDone,
      ...skipped,
      ...unrun.map((test) => `${basename(test.location.file)}: ${test.title}`),
    ];
    lines.push(`Not done: ${left.length || "nothing was left out"}`, ...left.map((one) => `  ${one}`));
    const [passed, failed, flaky] = [of("expected"), of("unexpected"), of("flaky")].map((some) => some.length);
    const counts = `${passed} passed, ${failed} failed, ${flaky} flaky, ${skipped.length} skipped, ${unrun.length} not run`;
    lines.push(`Browser tests: ${counts}, in ${inMinutes(Date.now() - this.begun)}`);
    lines.push(
      failed + flaky > 0
        ? `Screenshots, traces and server logs of the failures: ${this.folder}`
        : "No failure has left a screenshot, a trace or a log.",
    );
    console.log(lines.join("\n"));
    // `make test` prints these with those of its other parts.
    const results = process.env.TIDEWATCH_TEST_RESULTS;
    if (results) {
      for (const [name, { ms }] of all)
        appendFileSync(join(results, "times"), `${Math.round(ms / 1000)} browser ${name}\n`);
      for (const one of left) appendFileSync(join(results, "not-done"), `browser ${one}\n`);
    }
    const times = Object.fromEntries(all.map(([name, { ms, tests }]) => [name, { seconds: ms / 1000, tests }]));
    mkdirSync(dirname(this.folder), { recursive: true });
    writeFileSync(join(dirname(this.folder), "times.json"), `${JSON.stringify(times, null, 2)}\n`);
  }
}
