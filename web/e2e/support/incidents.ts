// Servers with the demo's traffic and an incident in it, sent through the front door.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test as base, register, type Shop } from "./fixtures.ts";
import { startServer } from "./server.ts";

/** Minutes from the start of an incident to the end of its history. */
export const INCIDENT_MINUTES = 40;

async function plant(url: string, incident: string): Promise<Shop> {
  const shop = await register(url);
  const demo = spawn(
    process.env.TIDEWATCH_BIN ?? "tidewatch",
    ["demo", "--url", url, "--token", shop.token, "--incident", incident, "--once"],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  const [code] = (await once(demo, "exit")) as [number | null];
  if (code !== 0) throw new Error(`the demo ended with ${code}`);
  return shop;
}

interface Incidents {
  release: Shop;
  prompt: Shop;
}

const incident = (name: keyof Incidents) =>
  [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the parameter's shape
    async ({}: object, use: (shop: Shop) => Promise<void>) => {
      const server = await startServer();
      await use(await plant(server.url, name));
      await server.stop();
    },
    { scope: "worker", timeout: 120_000 },
  ] as const;

export const test = base.extend<object, Incidents>({
  release: [...incident("release")],
  prompt: [...incident("prompt")],
});
