// Display strings for codes of the API.
import { count, plural } from "./format";

export const SPAN_KINDS = ["Unspecified", "Internal", "Server", "Client", "Producer", "Consumer"];
export function spanKind(kind: number): string {
  return SPAN_KINDS[kind] ?? "Unspecified";
}

/** Explanations of the percentiles. */
export const PERCENTILE_WORDS = {
  p50: "Usual: half of the calls are faster than this (p50).",
  p95: "Slow: one call in 20 takes longer than this (p95).",
  p99: "Slowest: one call in 100 takes longer than this (p99).",
};

/** Upper limits of "satisfied" and "tolerating". The ranking's bands differ from those of an endpoint's page. */
export const APDEX_BANDS = { ranking: "0.75 s, 1.5 s", detail: "0.5 s, 2 s" };

export const APDEX_WORDS = {
  ranking:
    "Share of satisfied users, 0 to 1: calls up to 750 ms count fully, up to 1.5 s half, slower or failed not at all.",
  detail:
    "Share of satisfied users, 0 to 1: calls up to 500 ms count fully, up to 2 s half, slower or failed not at all. The ranking uses 750 ms and 1.5 s.",
};

export const SERVER_ERROR_WORDS =
  "Share of calls that failed on the server: status 500 and above, or a failed span without a status of 400 to 499.";
export const PER_MINUTE_WORDS = "Over the time from the project's first to its last call in the range.";

export function apdexLevel(apdex: number): "ok" | "warn" | "error" {
  return apdex >= 0.85 ? "ok" : apdex >= 0.7 ? "warn" : "error";
}

/** The name of the endpoint of all requests that no route took. The server gives it. */
export const UNMATCHED = "UNMATCHED";

/** Whether no router produced the name: status 0 rows of spans split from their parent by a batch boundary. */
export function isJunkName(name: string): boolean {
  return name !== UNMATCHED && !/^[A-Z_]{3,10} \S/.test(name);
}

/** Reasons for dropped records (domain) and refused requests (server). */
const REASONS: Record<string, string> = {
  unmatched_root: "root spans that are no request, task or AI call",
  healthcheck: "health checks that went well",
  sampled: "left out by the sample rate",
  invalid_id: "an invalid trace or span id",
  unsupported_metric_type: "exponential histograms and summaries, which Settings can turn on",
  empty_point: "points without a value",
  not_finite: "values that are not a number",
  invalid_time: "a time that does not fit 64-bit nanoseconds",
  too_old: "older than the project keeps telemetry",
  disk_budget: "the oldest days, dropped to make room on the disk",
  duplicate: "already received (a retried export)",
  invalid_item: "items that could not be read",
  unsupported_item: "sessions and recordings, which an earlier version did not store",
  empty_recording: "recordings without content",
  recording_without_owner: "recordings of no session and of no stored exception",
  recording_too_large: "segments of recordings of more than 16 MB",
  recordings_off: "recordings, which the project does not store",
  empty_sample: "samples without a value",
  profile_too_large: "profiles with too many or too long stacks",
  bad_token: "a wrong or missing token",
  too_large: "a body that is too large (10 MB)",
  malformed: "a body that could not be read",
  unsupported_media_type: "a content type that is not protobuf or JSON",
  grpc: "a gRPC call with an unknown compression or content type, or through a proxy that speaks HTTP/1.1",
  bad_encoding: "a content encoding that is not gzip, deflate or zstd",
  slow: "a body that arrived too slowly",
  over_quota: "the project's daily quota being used up (the exporter will retry)",
  over_rate: "more records a second than the project may send (the exporter will retry)",
  origin_not_allowed: "a web page that is not on the project's list",
  overloaded: "the server being busy (the exporter will retry)",
};
export function reasonWords(reason: string): string {
  return REASONS[reason] ?? reason.replaceAll("_", " ");
}

const RECORDS: Record<string, string> = {
  traces: "span",
  spans: "span",
  logs: "log record",
  metrics: "metric point",
  reports: "item",
};

export function droppedSentence(signal: string, reason: string, amount: number): string {
  const records = plural(amount, RECORDS[signal] ?? signal);
  if (reason === "disk_budget") return `${records} of the oldest days dropped to make room on the disk`;
  if (reason === "shared_attributes_too_large") {
    return `${records} stored without some attributes: the resource or scope has too many (32 KB are kept)`;
  }
  if (reason === "too_many_names") {
    return `${records} stored under the name (other): the service has too many names on one day`;
  }
  return `${records} not stored: ${reasonWords(reason)}`;
}
export function rejectedSentence(signal: string, reason: string, amount: number): string {
  return `${plural(amount, `${signal.replace(/s$/, "")} request`)} refused because of ${reasonWords(reason)}`;
}

const GRAPH_REASONS: Record<string, string> = {
  span_limit: "only the first spans are drawn",
  node_limit: "only the first spans are drawn",
  missing_parents:
    "some spans name a parent that never arrived (not exported yet, dropped, or sampled away), so they stand at the top level",
  window: "spans more than 24 hours away from the opened one are left out",
  cycle: "some spans name each other as parent; the circle was opened at its first span",
  cycles: "some spans name each other as parent; the circle was opened at its first span",
};
export function graphSentence(status: {
  state: string;
  reasons: string[] | null;
  total: number;
  shown: number;
}): string | null {
  if (status.state === "complete") return null;
  const why = (status.reasons ?? []).map((reason) => GRAPH_REASONS[reason] ?? reason.replaceAll("_", " "));
  if (status.state === "unavailable")
    return `No spans are stored for this trace${why.length ? `: ${why.join("; ")}` : ""}.`;
  const part = status.shown < status.total ? `Showing ${count(status.shown)} of ${count(status.total)} spans. ` : "";
  const reasons = why.join("; ");
  return `${part}${reasons ? `${reasons[0].toUpperCase()}${reasons.slice(1)}.` : "The picture may be incomplete."}`;
}

export type Severity = "TRACE" | "DEBUG" | "INFO" | "WARN" | "ERROR" | "FATAL" | "UNSET";
export const SEVERITIES: Severity[] = ["FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "UNSET"];
/** Lowest severity number of each level (OpenTelemetry). */
export const SEVERITY_NUMBER: Record<string, number> = { TRACE: 1, DEBUG: 5, INFO: 9, WARN: 13, ERROR: 17, FATAL: 21 };
export function severity(text: string, number = 0): Severity {
  const upper = text.toUpperCase();
  for (const level of SEVERITIES) if (upper.startsWith(level)) return level;
  if (/^(CRIT|EMERG|ALERT|PANIC)/.test(upper)) return "FATAL";
  if (/^ERR/.test(upper)) return "ERROR";
  if (/^(NOTICE|INFORMATION)/.test(upper)) return "INFO";
  if (/^VERBOSE/.test(upper)) return "DEBUG";
  if (number >= 21) return "FATAL";
  if (number >= 17) return "ERROR";
  if (number >= 13) return "WARN";
  if (number >= 9) return "INFO";
  if (number >= 5) return "DEBUG";
  return number >= 1 ? "TRACE" : "UNSET";
}
