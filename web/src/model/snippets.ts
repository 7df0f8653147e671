// Snippets that send telemetry, per language, with the address and the token filled in.
// `e2e/snippets.spec.ts` runs those that can run on Debian; add every new snippet to one of its lists.
import { android, browser, flutter, ios, reactNative, replay } from "./snippets/client";
import { dotnet, go, java } from "./snippets/compiled";
import { cloudflare, collector, curl, edge, nginx } from "./snippets/edge";
import { rust } from "./snippets/rust";
import { elixir, node, php, python, ruby } from "./snippets/scripted";
import type { Group, Protocol, Snippet, Target } from "./snippets/types";

export type { Group, Protocol, Signal, Snippet, Step } from "./snippets/types";
export { grpcEndpoint } from "./snippets/types";

/** Port of the examples; it differs from this server's default port. */
const PORT = 3000;

export const GROUPS: Group[] = ["Backend", "Frontend & mobile", "Edge", "Collector & curl"];

/**
 * `otlp` is the base address without `/v1/…`, e.g. https://tide.example.com/api/otel. Ordered by `GROUPS`. With "grpc",
 * snippets that do not offer it are those of HTTP.
 */
export function snippets(otlp: string, token: string, port = PORT, protocol: Protocol = "http"): Snippet[] {
  const written = (snippet: (target: Target) => Snippet) => {
    const http = snippet({ otlp, token, port, protocol: "http" });
    return protocol === "grpc" && http.offersGrpc ? snippet({ otlp, token, port, protocol }) : http;
  };
  return [
    ...[node, python, go, java, dotnet, php, ruby, rust, elixir],
    ...[browser, replay, ios, android, flutter, reactNative],
    ...[edge, cloudflare, nginx, collector, curl],
  ].map(written);
}
