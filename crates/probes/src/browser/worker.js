// Runs the script of one check in a process without files, sockets and children.
//
// Messages end with a NUL, as those of the browser's own pipe. Standard input: the job, then what the browser sends.
// Standard output, by the first character: `>` a message for the browser, `L` a line of the script, `R` the result,
// after which the process ends.
"use strict";

const fs = require("node:fs");
const { randomBytes } = require("node:crypto");
const { dirname, join } = require("node:path");
const vm = require("node:vm");

/** The name of the script in stack traces. */
const SCRIPT = "script";
/** How long Playwright waits by default. */
const USUAL_WAIT_MS = 30_000;

// Playwright looks for files of other systems when it is loaded; a look that is not permitted finds nothing.
const { existsSync } = fs;
fs.existsSync = (path) => {
  try {
    return existsSync(path);
  } catch {
    return false;
  }
};

function send(kind, message) {
  const bytes = Buffer.from(`${kind}${message.replaceAll("\0", "")}\0`);
  // A pipe that is full accepts a part, or nothing yet.
  for (let at = 0; at < bytes.length; ) {
    try {
      at += fs.writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") process.exit(1);
    }
  }
}

/** Calls `receive` with each message of standard input. */
function listen(receive) {
  let rest = [];
  process.stdin.on("data", (chunk) => {
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0)) {
      rest.push(chunk.subarray(0, end));
      const message = Buffer.concat(rest).toString();
      rest = [];
      chunk = chunk.subarray(end + 1);
      receive(message);
    }
    rest.push(chunk);
  });
  // Nobody waits for the result.
  process.stdin.on("end", () => process.exit(1));
  process.stdin.on("error", () => process.exit(1));
}

/** The connection of Playwright to the browser. */
const transport = {
  send: (message) => send(">", JSON.stringify(message)),
  close: () => transport.onclose?.(),
};

let started = false;
listen((message) => {
  if (started) {
    // Each in a task of its own: Playwright relies on what it awaits for one message being done before the next one.
    setImmediate(() => transport.onmessage?.(JSON.parse(message)));
    return;
  }
  started = true;
  run(JSON.parse(message)).then(
    (durationMs) => end({ durationMs }),
    (error) => end(failure(error)),
  );
});

process.on("uncaughtException", (error) => end(failure(error)));
process.on("unhandledRejection", (error) => end(failure(error)));

function end(result) {
  send("R", JSON.stringify(result));
  process.exit(0);
}

/** What a script threw: its message, and the line of the script, counted from 1. */
function failure(error) {
  const isError = error !== null && typeof error === "object" && "message" in error;
  const colours = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");
  const message = String(isError ? error.message : error).replaceAll(colours, "");
  const place = new RegExp(`\\b${SCRIPT}:(\\d+)`).exec(isError ? String(error.stack) : "");
  return { error: message, line: place ? Number(place[1]) : null };
}

async function run(job) {
  Object.assign(process.env, job.env);
  const { chromium } = require(job.playwright);
  const browser = await chromium.connectOverCDP(transport, { artifactsDir: job.artifacts });
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await traced(await newContext({ acceptDownloads: false, ...options }), job.traceId);
    // What waits in vain ends before the time limit, with the line where it waits.
    const leftMs = Math.max(0, job.timeoutMs - performance.now());
    context.setDefaultTimeout(Math.min(USUAL_WAIT_MS, Math.max(1, leftMs / 2)));
    return context;
  };
  const context = await browser.newContext();
  const page = await context.newPage();
  const tests = [];
  const test = (name, body) => tests.push({ name, body });
  test.describe = (_, body) => body();
  test.step = (_, body) => body();
  const scope = { page, context, browser, env: Object.freeze(job.env), console: lines(), test };
  const start = performance.now();
  await compiled(job.script, scope, () => expectOf(job.playwright))();
  for (const { name, body } of tests) {
    send("L", name);
    await body({ page, context, browser });
  }
  return performance.now() - start;
}

/** `expect` of Playwright's test runner, which is another package beside its library. */
function expectOf(playwright) {
  const runner = join(dirname(playwright), "playwright", "test.js");
  try {
    return require(runner).expect;
  } catch (error) {
    throw new Error(`expect needs the package playwright beside playwright-core: ${error.message}`);
  }
}

/** Imports of Playwright: what they name is in the scope of the script. */
const IMPORTS =
  /^[ \t]*(import\s[^;'"]*?from\s*|const\s[^;'"=]*=\s*require\(\s*)(['"])(@playwright\/test|playwright(-core|\/test)?)\2(\s*\))?;?/gm;

/** The script as a function. `expect` is loaded only if it is used: that takes time. */
function compiled(script, scope, loadExpect) {
  const body = script.replace(IMPORTS, (found) => found.replace(/[^\n]/g, " "));
  const all = /\bexpect\b/.test(body) ? { ...scope, expect: loadExpect() } : scope;
  // The line before the script is not counted.
  const source = `return (async () => {\n${body}\n})();`;
  const made = vm.compileFunction(source, Object.keys(all), { filename: SCRIPT, lineOffset: -1 });
  return () => made(...Object.values(all));
}

/** `console` of the script. */
function lines() {
  const { format } = require("node:util");
  const line = (...values) => send("L", format(...values));
  return { log: line, info: line, debug: line, warn: line, error: line };
}

/** Adds the trace to requests for the host that the first page is of. Others never see it. */
async function traced(context, traceId) {
  let host = null;
  await context.route("**/*", async (route) => {
    const request = route.request();
    const url = new URL(request.url());
    const isPage = request.isNavigationRequest() && url.protocol.startsWith("http");
    if (host === null && isPage) host = url.host;
    if (url.host !== host) return route.continue();
    const traceparent = `00-${traceId}-${randomBytes(8).toString("hex")}-01`;
    return route.continue({ headers: { ...request.headers(), traceparent } });
  });
  return context;
}
