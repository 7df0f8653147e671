// Types and constants shared by all snippets.

export interface Step {
  title: string;
  code: string;
  /** "sh", "js", …. Code of "sh" runs in the app's folder; the last such step runs the app. */
  language: string;
  /** File whose whole content is `code`, relative to the app's folder. Without it, `code` is part of a file. */
  file?: string;
}

export interface Snippet {
  key: string;
  label: string;
  group: Group;
  steps: Step[];
  /** Signals that the example sends. */
  signals: Signal[];
  /** Check: a request to the running example, and the Endpoint that results. */
  check?: { request: string; endpoint: string; service: string };
  note?: string;
  /** Whether the SDK also sends OTLP/gRPC, which is the default of some. */
  offersGrpc?: boolean;
}

export type Protocol = "http" | "grpc";

export type Group = "Backend" | "Frontend & mobile" | "Edge" | "Collector & curl";
export type Signal = "traces" | "metrics" | "logs" | "sessions" | "recordings" | "exceptions";

/** Values filled into the snippets. */
export interface Target {
  /** Base address without `/v1/…`, e.g. https://tide.example.com/api/otel. */
  otlp: string;
  token: string;
  /** Port of the examples. */
  port: number;
  protocol: Protocol;
}

export const SERVICE = "my-service";

/** The endpoint of OTLP/gRPC: without a path, and with the port, because gRPC clients assume 443 for http too. */
export function grpcEndpoint(otlp: string): string {
  const { protocol, hostname, port } = new URL(otlp);
  return `${protocol}//${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
}

/** Variables that every SDK with environment configuration reads, followed by `more`. */
export function environment({ otlp, token, protocol }: Target, ...more: string[]): string {
  const isGrpc = protocol === "grpc";
  return [
    `export OTEL_SERVICE_NAME=${SERVICE}`,
    `export OTEL_EXPORTER_OTLP_ENDPOINT=${isGrpc ? grpcEndpoint(otlp) : otlp}`,
    // Names of gRPC metadata are lower-case.
    `export OTEL_EXPORTER_OTLP_HEADERS="${isGrpc ? "a" : "A"}uthorization=Bearer%20${token}"`,
    `export OTEL_EXPORTER_OTLP_PROTOCOL=${isGrpc ? "grpc" : "http/protobuf"}`,
    "export OTEL_EXPORTER_OTLP_COMPRESSION=gzip",
    ...more.map((one) => `export ${one}`),
  ].join("\n");
}

export const request = ({ port }: Target) => `curl http://localhost:${port}/users/7`;
