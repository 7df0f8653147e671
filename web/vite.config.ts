import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { PluginOption } from "vite";
import { defineConfig } from "vitest/config";
import { precompress } from "./build/precompress.ts";
import { replayFrame } from "./build/replay-frame.ts";

const root = fileURLToPath(new URL(".", import.meta.url)).replace(/\/$/, "");
const server = process.env.TIDEWATCH_URL ?? "http://127.0.0.1:8080";

const BASE =
  /node_modules[\\/](react|react-dom|scheduler|@floating-ui|@tanstack[\\/](?!react-virtual|virtual-core)[^\\/]+)[\\/]/;

export default defineConfig(async () => {
  const plugins: PluginOption[] = [react(), tailwindcss(), replayFrame(root), precompress(root)];
  if (process.env.MOCK) plugins.push((await import("./e2e/mock/plugin.ts")).mockApi());
  return {
    plugins,
    build: {
      target: "es2022",
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      sourcemap: false,
      // One chunk for the code that every page needs: many small chunks compress worse.
      rolldownOptions: { output: { codeSplitting: { groups: [{ name: "base", test: BASE }] } } },
    },
    server: {
      port: Number(process.env.PORT ?? 5173),
      strictPort: true,
      proxy: process.env.MOCK ? undefined : { "/api": server, "/health": server, "/status": server },
    },
    test: { include: ["src/**/*.test.{ts,tsx}", "scripts/**/*.test.ts"] },
    preview: { port: Number(process.env.PORT ?? 5173) },
  };
});
