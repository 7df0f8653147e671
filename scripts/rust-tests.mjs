#!/usr/bin/env node
// Runs the Rust test binaries of the workspace, two at a time, and prints a line with the duration of each.
//
//   node scripts/rust-tests.mjs LIST RESULTS [BINARY[/FILTER]]
//
// LIST is the output of `cargo test --no-run --message-format=json-render-diagnostics`. RESULTS is a folder: the output
// of each binary is RESULTS/rust/<binary>.log, the durations are lines `<seconds> rust <binary>` in RESULTS/times.
// A binary is named after its crate and target: `server-it`, `lake` (unit tests), `lake-conformance`.
// FILTER is passed to the binary: `server-it/times::` runs the tests of one file.
// `cargo test` runs one binary after the other, shows all of their output, and stops at the first that fails.
import { spawn } from "node:child_process";
import { appendFileSync, closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const [list, results, only = ""] = process.argv.slice(2);
const [onlyName, filter] = only.split(/\/(.*)/s);

/** Binaries that need all of the machine: many tests at once, or a measured throughput. */
const ALONE = ["server-it", "server-attack"];
/** Of the others the slowest first. `server-process` mostly waits. */
const FIRST = ["server-process", "lake", "lake-conformance"];
/** Binaries at once. */
const LANES = 2;
/** Tests of these binaries wait for timers, databases and sockets most of the time: this many run at once. */
const THREADS = { "server-it": 6 };

/** The test executables of cargo's messages: name, path, folder of the package. */
function binaries() {
  const found = new Map();
  for (const line of readFileSync(list, "utf8").split("\n")) {
    if (!line.startsWith("{")) continue;
    const message = JSON.parse(line);
    if (message.reason !== "compiler-artifact" || !message.executable || !message.profile.test) continue;
    if (message.target.kind.includes("bench") || message.target.kind.includes("example")) continue;
    const folder = dirname(message.manifest_path);
    const crate = folder.split("/").at(-1);
    const isUnit = message.target.kind.some((kind) => kind === "lib" || kind === "proc-macro");
    const isBin = message.target.kind.includes("bin");
    const name = isUnit ? crate : isBin ? `${crate}-bin` : `${crate}-${message.target.name}`;
    found.set(name, { name, path: message.executable, folder });
  }
  return [...found.values()];
}

/** Runs one binary; resolves to its result. */
function run({ name, path, folder }) {
  const log = join(results, "rust", `${name}.log`);
  const output = openSync(log, "w");
  const began = performance.now();
  const args = filter ? [filter] : [];
  const env = { RUST_BACKTRACE: "1", ...process.env, CARGO_MANIFEST_DIR: folder };
  if (THREADS[name]) env.RUST_TEST_THREADS ??= String(THREADS[name]);
  return new Promise((resolve) => {
    const child = spawn(path, args, { cwd: folder, env, stdio: ["ignore", output, output] });
    const end = (code, signal) => {
      closeSync(output);
      const seconds = (performance.now() - began) / 1000;
      const text = readFileSync(log, "utf8");
      const ends = [...text.matchAll(/^test result: .*$/gm)].at(-1)?.[0];
      appendFileSync(join(results, "times"), `${seconds.toFixed(0)} rust ${name}\n`);
      resolve({ name, log, text, seconds, ok: code === 0, ends: ends ?? `ended by ${signal ?? `exit ${code}`}` });
    };
    child.on("error", (error) => {
      writeFileSync(log, `${error}\n`);
      end(1, null);
    });
    child.on("exit", end);
  });
}

function report({ name, seconds, ok, ends, text }) {
  console.log(`${ok ? "  " : "X "}${name.padEnd(24)} ${seconds.toFixed(0).padStart(4)} s  ${ends}`);
  if (!ok) console.log(failures(text));
}

/** Lines that explain a failed binary: from its list of failures, or its last lines. */
function failures(text) {
  const begin = text.indexOf("\nfailures:\n");
  const shown = begin === -1 ? text.slice(-4000) : text.slice(begin);
  return shown.length > 20_000 ? `${shown.slice(0, 20_000)}\n… (the rest is in the log)` : shown;
}

mkdirSync(join(results, "rust"), { recursive: true });
const all = binaries();
const chosen = onlyName ? all.filter(({ name }) => name === onlyName) : all;
if (chosen.length === 0) {
  console.error(`no test binary ${onlyName}; there are: ${all.map(({ name }) => name).join(" ")}`);
  process.exit(2);
}
const rank = ({ name }) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
const isAlone = ({ name }) => ALONE.includes(name);
const together = chosen.filter((one) => !isAlone(one)).toSorted((a, b) => rank(a) - rank(b));
const done = [];
const lane = async (queue) => {
  for (let next = queue.shift(); next; next = queue.shift()) {
    const result = await run(next);
    report(result);
    done.push(result);
  }
};
await Promise.all(Array.from({ length: LANES }, () => lane(together)));
await lane(chosen.filter(isAlone));

const failed = done.filter(({ ok }) => !ok);
const count = (word) => done.reduce((sum, { ends }) => sum + Number(ends.match(`(\\d+) ${word}`)?.[1] ?? 0), 0);
console.log(`rust: ${count("passed")} passed, ${count("failed")} failed, ${count("ignored")} skipped`);
for (const { name, log } of failed) console.log(`  failed: ${name}, output in ${log}`);
process.exit(failed.length === 0 ? 0 : 1);
