// What a snippet is, and what all of them share.

export interface Step {
  title: string;
  code: string;
  /** "sh", "js", …; code of "sh" is run in the app's folder, the last such step runs the app. */
  language: string;
  /** The file that `code` is all of, relative to the app's folder. Without it, `code` is a part of some file. */
  file?: string;
}

export interface Snippet {
  key: string;
  label: string;
  group: Group;
  steps: Step[];
  /** What the example sends. */
  signals: Signal[];
  /** How to see it work: a request to the running example, and the Endpoint that appears. */
  check?: { request: string; endpoint: string; service: string };
  note?: string;
}

export type Group = "Backend" | "Frontend & mobile" | "Edge" | "Collector & curl";
export type Signal = "traces" | "metrics" | "logs";

/** What the snippets are filled in with. */
export interface Target {
  /** The base address without `/v1/…`, e.g. https://tide.example.com/api/otel. */
  otlp: string;
  token: string;
  /** Where the examples listen. */
  port: number;
}

export const SERVICE = "my-service";

/** The variables that every SDK with environment configuration reads; `more` are set beside them. */
export function environment({ otlp, token }: Target, ...more: string[]): string {
  return [
    `export OTEL_SERVICE_NAME=${SERVICE}`,
    `export OTEL_EXPORTER_OTLP_ENDPOINT=${otlp}`,
    `export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20${token}"`,
    "export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf",
    "export OTEL_EXPORTER_OTLP_COMPRESSION=gzip",
    ...more.map((one) => `export ${one}`),
  ].join("\n");
}

export const request = ({ port }: Target) => `curl http://localhost:${port}/users/7`;
