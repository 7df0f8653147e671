// Every snippet of the Connect page works: the test installs its packages, writes its files, runs its command, sends
// one request, and asserts the Endpoint that the page names.
// Spec: Endpoint naming, rule 2: a span with a valid http.route is not UNMATCHED.

import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { SessionRow } from "../src/api/sessions.ts";
import { type Protocol, type Snippet, snippets } from "../src/model/snippets.ts";
import { test as base, expect, notDone } from "./support/base.ts";
import { register, type Shop } from "./support/fixtures.ts";
import { newProject } from "./support/project.ts";
import { freePort, startServer } from "./support/server.ts";
import {
  collectorFolder,
  folderOf,
  installed,
  isInstalled,
  laidOut,
  runCommand,
  sh,
  started,
  tools,
  write,
} from "./support/snippets.ts";

/** Servers that run unmodified, with the signal for an orderly shutdown. */
const RUN: Record<string, NodeJS.Signals> = {
  node: "SIGTERM",
  python: "SIGINT",
  go: "SIGTERM",
  java: "SIGTERM",
  rust: "SIGTERM",
};

/** Those that are run with OTLP/gRPC too, and the folders of their packages. */
const RUN_GRPC: Record<string, string> = { node: "node", python: "python-grpc", go: "go-grpc", java: "java" };

/** Run with modifications; see their tests below. */
const RUN_MODIFIED = ["browser", "replay", "edge", "collector", "curl"];

/** Packages are not available from the registries of the tests; the code is checked with the language's parser. */
const PARSED: Record<string, { why: string; parser: Record<string, (code: string) => string> }> = {
  php: { why: "PECL and Packagist", parser: { php: () => "php -l part" } },
  ruby: { why: "RubyGems", parser: { ruby: () => "ruby -wc part" } },
  elixir: { why: "Hex", parser: { elixir: () => `elixir -e 'Code.string_to_quoted!(File.read!("part"))'` } },
};

/** No Debian package can run or compile these. */
const UNAVAILABLE: Record<string, string> = {
  dotnet: "the .NET SDK is not in Debian, and NuGet is no registry of the tests",
  ios: "Swift and the iOS SDK are not in Debian",
  android: "the Android SDK is not in Debian as a whole",
  flutter: "Dart and Flutter are not in Debian",
  "react-native": "needs a device or an emulator; its code is bundled below",
  cloudflare: "Cloudflare itself exports; its configuration is parsed below",
  nginx: "the module is not in Debian, and nginx.org is no registry of the tests",
};

/** Commands of languages. A run on a machine without one counts the snippet among what was not done. */
const COMMANDS: Record<string, string[]> = {
  python: ["python3"],
  go: ["go"],
  java: ["javac", "java"],
  rust: ["cargo"],
  php: ["php"],
  ruby: ["ruby"],
  elixir: ["elixir"],
  collector: ["go"],
  curl: ["curl"],
};

/** Skips the test if the machine lacks a command that the snippet needs. */
function needs(key: string): void {
  const missing = (COMMANDS[key] ?? []).filter((command) => !isInstalled(command));
  test.skip(missing.length > 0, `this machine has no ${missing.join(", ")}`);
}

/** A project of its own on the server of all snippets. */
type Target = Shop;

const test = base.extend<{ target: Target }, { snippetServer: Shop }>({
  snippetServer: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the parameter's shape
    async ({}, use) => {
      const server = await startServer();
      await use(await register(server.url));
      await server.stop();
    },
    { scope: "worker" },
  ],
  target: async ({ snippetServer }, use, { title }) => {
    await use(await newProject(snippetServer, title.replace(/[^\w -]/g, "").slice(0, 60)));
  },
});
test.setTimeout(900_000);
// Tests of one tool share its folder and run one after the other; tools run beside each other.
test.describe.configure({ mode: "parallel" });
const ofTool = (name: string, tests: () => void) =>
  test.describe(name, () => {
    test.describe.configure({ mode: "default" });
    tests();
  });

const snippetOf = ({ url, token }: Target, key: string, port: number, protocol: Protocol = "http"): Snippet => {
  const found = snippets(`${url}/api/otel`, token, port, protocol).find((one) => one.key === key);
  if (!found) throw new Error(`there is no snippet ${key}`);
  return found;
};

interface Row {
  endpoint: string;
  serverName: string;
  statusCode: number;
  traceId: string;
  name: string;
  serviceName: string;
}

async function query(target: Target, path: string, body: object = {}): Promise<{ data: Row[]; requests: unknown[] }> {
  const { url, session, project } = target;
  const now = Date.now();
  const range = { fromDate: new Date(now - 3_600_000).toISOString(), toDate: new Date(now + 60_000).toISOString() };
  const answer = await fetch(`${url}${path}?projectId=${project}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${session}` },
    body: JSON.stringify({ ...range, ...body }),
  });
  expect(answer.status, path).toBe(200);
  return (await answer.json()) as { data: Row[]; requests: unknown[] };
}

async function metricNames({ url, session, project }: Target): Promise<string> {
  const answer = await fetch(`${url}/api/metrics/discover?projectId=${project}`, {
    headers: { authorization: `Bearer ${session}` },
  });
  expect(answer.status).toBe(200);
  return answer.text();
}

const endpoints = async (target: Target) => (await query(target, "/api/endpoints")).data.length;

/** Asserts that the snippet's Endpoint has arrived, from its service and with its signals. */
async function expectArrival(target: Target, { check, signals }: Snippet): Promise<void> {
  const { data } = await query(target, "/api/endpoints");
  const rows = data.map(({ endpoint, serverName, statusCode }) => ({ endpoint, serverName, statusCode }));
  expect(rows).toEqual([{ endpoint: check?.endpoint, serverName: check?.service, statusCode: 200 }]);
  if (signals.includes("logs")) {
    const logs = await query(target, "/api/logs", { traceId: data[0].traceId });
    expect(JSON.stringify(logs.data), "a log line of the request").toContain("asked for");
  }
  if (signals.includes("metrics")) expect(await metricNames(target)).toMatch(/http\.server\.(request\.)?duration/);
  const drops = (await query(target, "/api/drops")) as { requests: { outcome: string; count: number }[] } & object;
  expect(drops.requests.filter((one) => one.outcome === "rejected" && one.count > 0)).toEqual([]);
}

test("every snippet is run, parsed, or listed with a reason", () => {
  const lists = [...Object.keys(RUN), ...RUN_MODIFIED, ...Object.keys(PARSED), ...Object.keys(UNAVAILABLE)];
  const all = snippets("http://x/api/otel", "t").map((one) => one.key);
  expect([...lists].sort()).toEqual([...all].sort());
  for (const [key, why] of Object.entries(UNAVAILABLE)) notDone(`the snippet ${key} does not run`, why);
  for (const [key, { why }] of Object.entries(PARSED))
    notDone(`the snippet ${key} is parsed only`, `its packages are on ${why}`);
});

for (const [key, signal] of Object.entries(RUN))
  ofTool(key, () => {
    runs(key, signal, "http", key);
    if (RUN_GRPC[key]) runs(key, signal, "grpc", RUN_GRPC[key]);
  });

/** `packages`: the folder of its packages. */
function runs(key: string, signal: NodeJS.Signals, protocol: Protocol, packages: string): void {
  const title = `${key}, ${protocol}: the example runs as printed, and its request is the Endpoint that the page names`;
  test(title, async ({ target }) => {
    needs(key);
    const port = await freePort();
    const snippet = snippetOf(target, key, port, protocol);
    const folder = await laidOut(snippet, packages);
    const app = await started(runCommand(snippet), folder, port);
    try {
      expect(await sh(snippet.check?.request ?? "", folder), app.output()).toBe("user 7\n");
      // The agent ends its span after the response; a signal between the two would lose the span.
      if (key === "java") await expect.poll(() => endpoints(target), { timeout: 60_000 }).toBe(1);
    } finally {
      // Long before the interval of any exporter ends: the shutdown sends queued records.
      await app.stop(signal);
    }
    await expectArrival(target, snippet);
  });
}

test("curl: the command runs as printed", async ({ target }) => {
  needs("curl");
  const snippet = snippetOf(target, "curl", 0);
  await sh(runCommand(snippet), "/tmp");
  const { data } = await query(target, "/api/endpoints");
  expect(data.map((row) => [row.endpoint, row.serverName])).toEqual([["GET /hello", "hello-service"]]);
});

ofTool("collector", () => {
  for (const protocol of ["http", "grpc"] as const)
    test(`collector: received telemetry is forwarded over ${protocol}`, ({ target }) => forward(target, protocol));
});

async function forward(target: Target, protocol: Protocol): Promise<void> {
  needs("collector");
  const http = await freePort();
  const printed = snippetOf(target, "collector", 0, protocol);
  // The default ports may be in use.
  const steps = printed.steps.map((step) => ({
    ...step,
    code: step.code.replace(":4318", `:${http}`).replace(":4317", ":0"),
  }));
  const folder = await collectorFolder();
  await write(folder, { ...printed, steps });
  const collector = await started(`PATH="$PWD:$PATH"\n${runCommand(printed)}`, folder, http);
  try {
    const sender = snippets(`http://localhost:${http}`, "none").find((one) => one.key === "curl");
    if (!sender) throw new Error("there is no snippet curl");
    await sh(runCommand(sender), folder);
  } finally {
    await collector.stop("SIGTERM");
  }
  const { data } = await query(target, "/api/endpoints");
  expect(
    data.map((row) => [row.endpoint, row.serverName]),
    collector.output(),
  ).toEqual([["GET /hello", "hello-service"]]);
  expect(collector.output(), "no name of it is deprecated").not.toContain("deprecated");
}

interface Esbuild {
  build(options: object): Promise<{ outputFiles: { text: string }[] }>;
}

/** Bundles the script with its imports. A missing import fails the test. */
async function bundled(folder: string, entry: string, options: object): Promise<string> {
  const esbuild = createRequire(join(await tools(), "package.json"))("esbuild") as Esbuild;
  const { outputFiles } = await esbuild.build({
    absWorkingDir: folder,
    entryPoints: [entry],
    bundle: true,
    format: "esm",
    target: "es2022",
    write: false,
    logLevel: "silent",
    logOverride: { "import-is-undefined": "error" },
    ...options,
  });
  return outputFiles[0].text;
}

ofTool("esbuild and workerd", () => {
  test("browser: requests of a page arrive under its service, and carry its trace", async ({ target, browser }) => {
    const snippet = snippetOf(target, "browser", 0);
    const folder = await laidOutClient(snippet);
    const script = await bundled(folder, "telemetry.js", {
      footer: { js: `document.body.onclick = () => fetch("/users/7");` },
    });
    const ofApp = (name: string) => `my-web-app: ${name}`;
    const spans = async () =>
      (await query(target, "/api/spans")).data.map(({ name, serviceName }) => `${serviceName}: ${name}`).sort();
    let traceparent: unknown;
    const app = createServer((request, answer) => {
      if (request.url === "/users/7") traceparent = request.headers.traceparent;
      answer.setHeader("content-type", request.url === "/app.js" ? "text/javascript" : "text/html");
      answer.end(
        request.url === "/app.js"
          ? script
          : `<!doctype html><title>app</title><script type="module" src="/app.js"></script>`,
      );
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => app.once("listening", resolve));
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      const problems: string[] = [];
      page.on("pageerror", (error) => problems.push(error.message));
      await page.goto(`http://127.0.0.1:${(app.address() as AddressInfo).port}/`);
      // From another origin than the server's; sent after the exporter's interval, in one request or more.
      const sent: number[] = [];
      page.on("response", (one) => {
        if (one.url().endsWith("/v1/traces") && one.request().method() === "POST") sent.push(one.status());
      });
      await page.locator("body").dispatchEvent("click");
      await expect.poll(spans).toEqual(["GET", "documentFetch", "documentLoad", "resourceFetch"].map(ofApp));
      expect(new Set(sent)).toEqual(new Set([200]));
      expect(problems).toEqual([]);
    } finally {
      await context.close();
      app.close();
    }
    const { data } = await query(target, "/api/spans");
    expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(data.find((row) => row.name === "GET")?.traceId).toBe(String(traceparent).split("-")[1]);
  });

  test("replay: a page's session arrives with its user and its error", async ({ target, browser }) => {
    const folder = await laidOutClient(snippetOf(target, "replay", 0));
    const script = await bundled(folder, "telemetry.js", {});
    const app = createServer((request, answer) => {
      answer.setHeader("content-type", request.url === "/app.js" ? "text/javascript" : "text/html");
      answer.end(
        request.url === "/app.js"
          ? script
          : `<!doctype html><title>app</title><h1>Hello</h1><script type="module" src="/app.js"></script>`,
      );
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => app.once("listening", resolve));
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(`http://127.0.0.1:${(app.address() as AddressInfo).port}/`);
      await page.evaluate(() => {
        setTimeout(() => {
          throw new TypeError("of the page");
        });
      });
      const sessions = async () =>
        ((await query(target, "/api/sessions")) as unknown as { data: SessionRow[] }).data.map((row) => [
          row.userId,
          row.errorCount,
        ]);
      await expect.poll(sessions, { timeout: 30_000 }).toEqual([["u_42", 1]]);
    } finally {
      await context.close();
      app.close();
    }
  });

  test("react-native: each import of its code exists", async ({ target }) => {
    const snippet = snippetOf(target, "react-native", 0);
    const folder = await laidOutClient(snippet);
    const script = await bundled(folder, "telemetry.js", { mainFields: ["react-native", "browser", "main"] });
    expect(script).toContain(target.token);
  });

  test("edge: the worker runs in workerd, the runtime of wrangler dev", async ({ target }) => {
    const port = await freePort();
    const snippet = snippetOf(target, "edge", port);
    // wrangler needs a newer Node.js than this repository, so the test reads its configuration.
    const folder = await laidOut(snippet);
    const config = JSON.parse(snippet.steps.find((step) => step.file === "wrangler.jsonc")?.code ?? "");
    const script = await bundled(folder, config.main, { conditions: ["workerd", "worker", "browser"] });
    await write(folder, { ...snippet, steps: workerd(script, config.compatibility_date, port) });
    const app = await started(
      `exec ${join(await tools(), "node_modules/.bin/workerd")} serve workerd.capnp`,
      folder,
      port,
    );
    try {
      expect(await sh(snippet.check?.request ?? "", folder), app.output()).toBe("user 7\n");
      await expect
        .poll(async () => (await query(target, "/api/endpoints")).data.length, app.output())
        .toBeGreaterThan(0);
    } finally {
      await app.stop("SIGTERM");
    }
    await expectArrival(target, snippet);
  });
});

/** Snippets without a run command: all commands install packages. */
async function laidOutClient(snippet: Snippet): Promise<string> {
  const folder = folderOf(snippet.key);
  const commands = snippet.steps.filter((step) => step.language === "sh").map((step) => step.code);
  await installed(folder, commands.join("\n"));
  await write(folder, snippet);
  return folder;
}

/** The output of wrangler: the bundle, and a configuration that permits access to this machine. */
const workerd = (script: string, date: string, port: number): Snippet["steps"] => [
  { title: "", language: "js", file: "bundle.js", code: script },
  {
    title: "",
    language: "capnp",
    file: "workerd.capnp",
    code: `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "bundle.js", esModule = embed "bundle.js")],
      compatibilityDate = "${date}",
    )),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);`,
  },
];

test("cloudflare: its configuration is JSON", ({ target }) => {
  const snippet = snippetOf(target, "cloudflare", 0);
  const config = JSON.parse(snippet.steps.find((step) => step.file === "wrangler.jsonc")?.code ?? "");
  expect(Object.keys(config.observability)).toEqual(["traces", "logs"]);
});

for (const [key, { parser }] of Object.entries(PARSED)) {
  test(`${key}: the language's parser accepts the code`, async ({ target }) => {
    needs(key);
    const snippet = snippetOf(target, key, 3000);
    const folder = folderOf(key);
    await installed(folder, "true");
    const parts = snippet.steps.filter((step) => step.language !== "sh");
    expect(parts.length).toBeGreaterThan(0);
    for (const { language, code } of parts) {
      await write(folder, { ...snippet, steps: [{ title: "", language, file: "part", code }] });
      await sh(parser[language](code), folder);
    }
  });
}
