// Starts the real `tidewatch` binary with an empty data folder on a free port, and stops it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Server {
  url: string;
  /** Folder of the sent mails, one file each. */
  mails: string;
  /** Kills the server like `kill -9` and restarts it on the same data. */
  kill: () => Promise<void>;
  stop: () => Promise<void>;
}

/**
 * A free port below Linux's default range of ephemeral ports. A port of that range can become the source port of any
 * outgoing connection before the server listens, or while it is down.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000);
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
 * environment.
 */
export async function startServer(
  name = "127.0.0.1",
  setupCode = "off",
  settings: Record<string, string> = {},
): Promise<Server> {
  const binary = process.env.TIDEWATCH_BIN;
  if (!binary) throw new Error("TIDEWATCH_BIN must name the tidewatch binary (cargo build --bin tidewatch)");
  const port = await freePort();
  const data = await mkdtemp(join(tmpdir(), "tidewatch-e2e-"));
  const url = `http://${name}:${port}`;
  const mails = join(data, "mails");
  const launch = async () => {
    const started = spawn(
      binary,
      ["serve", "--listen", `127.0.0.1:${port}`, "--data-dir", data, "--base-url", url, "--mail-dir", mails],
      {
        stdio: ["ignore", "pipe", "pipe"],
        env: {
          ...process.env,
          TIDEWATCH_SETUP_CODE: setupCode,
          ALLOW_PRIVATE_MONITOR_TARGETS: "true",
          SYNTHETICS_BROWSER_MODE: "embedded",
          SYNTHETICS_BROWSER_PLAYWRIGHT: process.cwd(),
          SYNTHETICS_BROWSER_CHROMIUM: process.env.CHROMIUM ?? "/usr/bin/chromium",
          ...settings,
        },
      },
    );
    await ready(`http://127.0.0.1:${port}`, started, collect(started));
    return started;
  };
  let running = await launch();
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    const ended = running.exitCode === null ? once(running, "exit") : null;
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
      await rm(data, { recursive: true, force: true });
    },
  };
}

function collect(child: ChildProcess): () => string {
  let text = "";
  const add = (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-8000);
  };
  child.stdout?.on("data", add);
  child.stderr?.on("data", add);
  return () => text;
}

async function ready(url: string, child: ChildProcess, output: () => string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    if (child.exitCode !== null) throw new Error(`tidewatch ended with ${child.exitCode}:\n${output()}`);
    const answer = await fetch(`${url}/health`).catch(() => null);
    if (answer?.ok) return;
    await new Promise((resume) => setTimeout(resume, 100));
  }
  throw new Error(`tidewatch did not get ready:\n${output()}`);
}
