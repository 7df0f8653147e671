// Sets up a snippet of the Connect page in a cache folder, as a user would, and runs it.
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { promisify } from "node:util";
import type { Snippet, Step } from "../../src/model/snippets.ts";

const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "tidewatch");
const LISTENING_WITHIN_MS = 240_000;
const ENDED_WITHIN_MS = 60_000;

/** Environment of a snippet's commands: that of this process, with separate caches. */
const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  NODE_OPTIONS: "",
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_ignore_scripts: "true",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  GOMODCACHE: join(CACHE, "go", "mod"),
  GOCACHE: join(CACHE, "go", "build"),
  GOTOOLCHAIN: "auto",
  GOFLAGS: "-modcacherw",
  // Not the workspace's target directory, which has other features.
  CARGO_TARGET_DIR: join(CACHE, "snippets", "target"),
  CARGO_PROFILE_DEV_DEBUG: "0",
});

export const folderOf = (name: string): string => join(CACHE, "snippets", name);

export const isInstalled = (command: string): boolean =>
  spawnSync("bash", ["-c", 'command -v "$0"', command]).status === 0;

const isCommand = (step: Step) => step.language === "sh" && !step.file;

/** Returns the folder `name` after running the snippet's install commands and writing its files there. */
export async function laidOut(snippet: Snippet, name = snippet.key): Promise<string> {
  const folder = folderOf(name);
  const install = snippet.steps.filter(isCommand).slice(0, -1);
  await installed(folder, install.map((step) => step.code).join("\n"));
  await write(folder, snippet);
  return folder;
}

export async function write(folder: string, { steps }: Snippet): Promise<void> {
  for (const { file, code } of steps) {
    if (!file) continue;
    await mkdir(dirname(join(folder, file)), { recursive: true });
    // An unchanged file keeps its modification time, so that it is not compiled again.
    const old = await readFile(join(folder, file), "utf8").catch(() => "");
    if (old !== `${code}\n`) await writeFile(join(folder, file), `${code}\n`);
  }
}

/** Runs the commands once in a new folder; a marker file records them. A failing command fails the test. */
export async function installed(folder: string, commands: string): Promise<void> {
  const marker = join(folder, ".installed");
  if ((await readFile(marker, "utf8").catch(() => null)) === commands) return;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  // Otherwise npm and Cargo search the parent folders for a project.
  await writeFile(join(folder, "package.json"), '{"private":true}\n');
  await sh(commands, folder);
  await writeFile(marker, commands);
}

/** Returns the command's output. Throws an error with all output if the command fails. */
export async function sh(command: string, cwd: string): Promise<string> {
  const run = promisify(execFile)("bash", ["-euc", command], { cwd, env: environment(), maxBuffer: 1 << 26 });
  return (await run).stdout;
}

export interface Running {
  /** All output so far. */
  output: () => string;
  /** Sends the signal to the command and its children, and waits until all have ended. */
  stop: (signal: NodeJS.Signals) => Promise<void>;
}

/** Starts the command and waits until a process listens on the port. */
export async function started(command: string, cwd: string, port: number): Promise<Running> {
  // In a separate process group, like a job of a terminal.
  const child = spawn("bash", ["-euc", command], { cwd, env: environment(), detached: true });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-20_000);
    });
  }
  // The output closes when the last process of the group has ended.
  const closed = once(child, "close");
  const stop = async (signal: NodeJS.Signals) => {
    if (!child.pid) return;
    process.kill(-child.pid, signal);
    const late = after(ENDED_WITHIN_MS, "late", { ref: false });
    if ((await Promise.race([closed, late])) !== "late") return;
    process.kill(-child.pid, "SIGKILL");
    throw new Error(`it did not end on ${signal}:\n${text}`);
  };
  const running = { output: () => text, stop };
  try {
    await listening(child, port, running.output);
  } catch (error) {
    if (child.exitCode === null) await stop("SIGKILL");
    throw error;
  }
  return running;
}

async function listening(child: ChildProcess, port: number, output: () => string): Promise<void> {
  const deadline = Date.now() + LISTENING_WITHIN_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}:\n${output()}`);
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect({ host: "localhost", port }, () => resolve(true));
      socket.once("error", () => resolve(false));
      socket.once("close", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (open) return;
    await after(100);
  }
  throw new Error(`nothing listens on port ${port}:\n${output()}`);
}

/** The last command, which runs the app. */
export const runCommand = (snippet: Snippet): string => snippet.steps.filter(isCommand).at(-1)?.code ?? "";

/** Bundlers and the runtime of edge workers, which users install themselves. */
export async function tools(): Promise<string> {
  const folder = folderOf("tools");
  await installed(folder, "npm install esbuild@0.28.2 workerd@1.20261117.1");
  return folder;
}

/** The Collector, built from its Go modules. */
export async function collectorFolder(): Promise<string> {
  const source = await readFile(new URL("../collector/main.go", import.meta.url), "utf8");
  const folder = folderOf("otelcol");
  const root = "go.opentelemetry.io/collector";
  const exporters = ["exporter/otlpexporter", "exporter/otlphttpexporter"];
  const parts = ["otelcol", ...exporters, "processor/batchprocessor", "receiver/otlpreceiver"];
  const modules = [...parts, "service/telemetry/otelconftelemetry"].map((part) => `${root}/${part}@v0.162.0`);
  await installed(
    folder,
    [
      `cat > main.go <<'EOF'\n${source}EOF`,
      "go mod init otelcol",
      `go get ${modules.join(" ")}`,
      "go build -mod=mod -o otelcol .",
    ].join("\n"),
  );
  return folder;
}
