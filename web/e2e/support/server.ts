// Starts the real `tidewatch` binary with an empty data folder on a free port, and stops it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as after } from "node:timers/promises";

export interface Server {
  url: string;
  /** Folder of the sent mails, one file each. */
  mails: string;
  /** Kills the server like `kill -9` and restarts it on the same data. */
  kill: () => Promise<void>;
  stop: () => Promise<void>;
}

const WORKERS_MAX = 8;
const PORTS_PER_WORKER = Math.floor(22_000 / WORKERS_MAX);
const FIRST_PORT = 10_000 + PORTS_PER_WORKER * (Number(process.env.TEST_PARALLEL_INDEX ?? 0) % WORKERS_MAX);

/**
 * A free port below Linux's default range of ephemeral ports. A port of that range can become the source port of any
 * outgoing connection before the server listens, or while it is down. Each worker has a part of the range, so that no
 * other worker takes the port before it is used.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS_PER_WORKER);
    const probe = createServer();
    probe.listen(port, "127.0.0.1");
    const free = await once(probe, "listening").then(
      () => true,
      () => false,
    );
    if (!free) continue;
    probe.close();
    await once(probe, "close");
    return port;
  }
}

/**
 * `name` is the host name for browsers. Passkeys need a name, not an IP address. `settings`: more variables of the
 * environment, `undefined` for one that is not set.
 */
export async function startServer(
  name = "127.0.0.1",
  setupCode = "off",
  settings: Record<string, string | undefined> = {},
): Promise<Server> {
  const binary = process.env.TIDEWATCH_BIN;
  if (!binary) throw new Error("TIDEWATCH_BIN must name the tidewatch binary (cargo build --bin tidewatch)");
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "tidewatch-e2e-"));
  const [data, mails, log] = [join(folder, "data"), join(folder, "mails"), join(folder, "server.log")];
  mkdirSync(data);
  const url = `http://${name}:${port}`;
  const launch = async () => {
    const output = openSync(log, "a");
    const started = spawn(binary, ["serve", "--listen", `127.0.0.1:${port}`, "--data-dir", data, "--base-url", url], {
      stdio: ["ignore", output, output],
      env: {
        ...process.env,
        TIDEWATCH_SETUP_CODE: setupCode,
        MAIL_DIR: mails,
        ALLOW_PRIVATE_MONITOR_TARGETS: "true",
        SYNTHETICS_BROWSER_MODE: "embedded",
        SYNTHETICS_BROWSER_PLAYWRIGHT: process.cwd(),
        SYNTHETICS_BROWSER_CHROMIUM: process.env.CHROMIUM ?? "/usr/bin/chromium",
        ...settings,
      },
    });
    closeSync(output);
    try {
      await ready(`http://127.0.0.1:${port}`, started, () => readFileSync(log, "utf8").slice(-8000));
    } catch (error) {
      started.kill("SIGKILL");
      throw error;
    }
    return started;
  };
  runningLogs.set(log, 0);
  let running = await launch();
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    const isRunning = running.exitCode === null && running.signalCode === null;
    const ended = isRunning ? once(running, "exit") : null;
    running.kill(signal);
    await ended;
  };
  return {
    url,
    mails,
    kill: async () => {
      await end("SIGKILL");
      running = await launch();
    },
    stop: async () => {
      await end("SIGTERM");
      endedLogs.push(logged(log));
      runningLogs.delete(log);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Files of the logs of running servers, and the size that each had when the current test began. */
const runningLogs = new Map<string, number>();
/** Logs of servers that have ended since. */
let endedLogs: string[] = [];

const logged = (file: string) =>
  readFileSync(file)
    .subarray(runningLogs.get(file) ?? 0)
    .toString();

/** At the start of a test: `serverLogs` then returns what servers log during this test. */
export function forgetEndedServers(): void {
  endedLogs = [];
  for (const file of runningLogs.keys()) runningLogs.set(file, statSync(file).size);
}

/** Log lines of each server of this worker since the current test began. */
export function serverLogs(): string[] {
  return [...endedLogs, ...[...runningLogs.keys()].map(logged)];
}

const READY_WITHIN_MS = 60_000;

async function ready(url: string, child: ChildProcess, output: () => string): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`tidewatch ended with ${child.exitCode}:\n${output()}`);
    const answer = await fetch(`${url}/health`).catch(() => null);
    if (answer?.ok) return;
    await after(25);
  }
  throw new Error(`tidewatch did not get ready:\n${output()}`);
}
