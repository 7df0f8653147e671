// Monitors: words of their types and states, and the fields of their form.
import type { Check, CheckDay, CheckRequest } from "./types";

export const CHECK_TYPES = ["http", "tcp", "tls", "dns", "heartbeat", "browser"] as const;
export type CheckType = (typeof CHECK_TYPES)[number];

export const TYPE_WORDS: Record<CheckType, { label: string; about: string }> = {
  http: { label: "HTTP", about: "Sends a request and checks the response." },
  tcp: { label: "TCP", about: "Opens a connection, and may check the answer." },
  tls: { label: "Certificate", about: "Warns before a TLS certificate expires." },
  dns: { label: "DNS", about: "Looks up the records of a name." },
  heartbeat: { label: "Heartbeat", about: "Expects that a job, such as a cron job, reports in time." },
  browser: { label: "Browser", about: "Runs a Playwright script in a browser." },
};

export function typeLabel(type: string): string {
  return TYPE_WORDS[type as CheckType]?.label ?? type;
}

/** Word and tone of a monitor. */
export function stateWords(check: Pick<Check, "enabled" | "state" | "checkType">): {
  word: string;
  tone: "ok" | "error" | "plain";
} {
  if (!check.enabled) return { word: "paused", tone: "plain" };
  if (check.state === "up") return { word: "up", tone: "ok" };
  if (check.state === "down") return { word: "down", tone: "error" };
  return { word: check.checkType === "heartbeat" ? "no report yet" : "not checked yet", tone: "plain" };
}

/** Target of a monitor, in one line. */
export function targetOf(check: Pick<Check, "checkType" | "config">): string {
  const config = check.config as Record<string, unknown>;
  switch (check.checkType) {
    case "http":
      return String(config.url);
    case "tcp":
    case "tls":
      return `${config.host}:${config.port}`;
    case "dns":
      return `${config.recordType} ${config.name}`;
    case "browser":
      return scriptWords(String(config.script));
    default:
      return `every ${spell(Number(config.periodSeconds))}`;
  }
}

/** The first address of a script, or how long it is. */
function scriptWords(script: string): string {
  const address = /https?:\/\/[^\s'"`)]+/.exec(script)?.[0];
  const lines = script.trim().split("\n").length;
  return address ?? `a script of ${lines} ${lines === 1 ? "line" : "lines"}`;
}

/** 90 s, 5 min, 24 h, 7 d. */
export function spell(seconds: number): string {
  const units = [
    [86_400, "d"],
    [3600, "h"],
    [60, "min"],
  ] as const;
  for (const [length, unit] of units)
    if (seconds >= length && seconds % length === 0) return `${seconds / length} ${unit}`;
  return `${seconds} s`;
}

export interface DayBar {
  /** `2026-06-01`. */
  day: string;
  tone: "none" | "ok" | "warn" | "error";
  words: string;
}

const DAY_MS = 86_400_000;
/** Share of good results below which a day is red. */
const BAD_DAY = 0.95;

/** One bar for each of the last `count` UTC days, the oldest first. */
export function dayBars(days: CheckDay[], nowMs: number, count = 90): DayBar[] {
  const known = new Map(days.map((day) => [day.bucket.slice(0, 10), day]));
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  return Array.from({ length: count }, (_, index) => {
    const day = new Date(today - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10);
    const found = known.get(day);
    const made = found ? found.total - found.missed : 0;
    if (!found || made <= 0) return { day, tone: "none", words: `${day}: not checked` };
    const share = found.up / made;
    const tone = share === 1 ? "ok" : share >= BAD_DAY ? "warn" : "error";
    return { day, tone, words: `${day}: ${uptimeText(share * 100)} of ${made} checks good` };
  });
}

/** 100 %, 99.98 %, 0 %. Never rounds up to 100. */
export function uptimeText(percent: number | null | undefined): string {
  if (percent === null || percent === undefined) return "–";
  if (percent === 100 || percent === 0) return `${percent} %`;
  return `${(Math.floor(percent * 100) / 100).toFixed(2)} %`;
}

/** The fields of the form, as typed. */
export interface Draft {
  name: string;
  checkType: CheckType;
  intervalSeconds: string;
  timeoutSeconds: string;
  failureThreshold: string;
  url: string;
  method: string;
  /** `Name: value` lines. */
  headers: string;
  authType: string;
  username: string;
  password: string;
  token: string;
  headerName: string;
  headerValue: string;
  body: string;
  bodyContentType: string;
  followRedirects: boolean;
  skipTlsVerify: boolean;
  statusCodes: string;
  bodyContains: string;
  bodyRegex: string;
  maxResponseTimeMs: string;
  tlsMinDaysRemaining: string;
  host: string;
  port: string;
  useTls: boolean;
  sendPayload: string;
  expectContains: string;
  serverName: string;
  dnsName: string;
  recordType: string;
  expectedValue: string;
  server: string;
  periodSeconds: string;
  graceSeconds: string;
  script: string;
  /** Variables of the script; the ids are of their rows. */
  env: { id: number; name: string; value: string }[];
}

export const NEW_DRAFT: Draft = {
  name: "",
  checkType: "http",
  intervalSeconds: "60",
  timeoutSeconds: "10",
  failureThreshold: "3",
  url: "https://",
  method: "GET",
  headers: "",
  authType: "none",
  username: "",
  password: "",
  token: "",
  headerName: "",
  headerValue: "",
  body: "",
  bodyContentType: "",
  followRedirects: true,
  skipTlsVerify: false,
  statusCodes: "",
  bodyContains: "",
  bodyRegex: "",
  maxResponseTimeMs: "",
  tlsMinDaysRemaining: "",
  host: "",
  port: "443",
  useTls: false,
  sendPayload: "",
  expectContains: "",
  serverName: "",
  dnsName: "",
  recordType: "A",
  expectedValue: "",
  server: "",
  periodSeconds: "86400",
  graceSeconds: "600",
  script: 'await page.goto("https://");\nawait expect(page).toHaveTitle(/./);\n',
  env: [],
};

const text = (value: unknown) => (value === null || value === undefined ? "" : String(value));

/** The form of a stored monitor. Secrets are masks, which the server takes for the stored ones. */
export function draftOf(check: Check): Draft {
  const config = check.config as Record<string, unknown>;
  const auth = (config.auth ?? {}) as Record<string, unknown>;
  const assertions = (config.assertions ?? {}) as Record<string, unknown>;
  const headers = (config.headers ?? {}) as Record<string, string>;
  const draft: Draft = {
    ...NEW_DRAFT,
    name: check.name,
    checkType: check.checkType as CheckType,
    intervalSeconds: text(check.intervalSeconds),
    timeoutSeconds: text(check.timeoutSeconds),
    failureThreshold: text(check.failureThreshold),
    headers: Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join("\n"),
    authType: text(auth.type) || "none",
    username: text(auth.username),
    password: text(auth.password),
    token: text(auth.token),
    headerName: text(auth.headerName),
    headerValue: text(auth.headerValue),
    followRedirects: config.followRedirects !== false,
    skipTlsVerify: config.skipTlsVerify === true,
    useTls: config.useTls === true,
    statusCodes: ((assertions.statusCodes ?? []) as number[]).join(", "),
    bodyContains: text(assertions.bodyContains),
    bodyRegex: text(assertions.bodyRegex),
    maxResponseTimeMs: text(assertions.maxResponseTimeMs),
    tlsMinDaysRemaining: text(config.tlsMinDaysRemaining ?? assertions.tlsMinDaysRemaining),
    dnsName: text(config.name),
    env: Object.entries((config.env ?? {}) as Record<string, string>).map(([name, value], id) => ({ id, name, value })),
  };
  const same = [
    "url",
    "method",
    "body",
    "bodyContentType",
    "host",
    "port",
    "sendPayload",
    "expectContains",
    "serverName",
    "recordType",
    "expectedValue",
    "server",
    "periodSeconds",
    "graceSeconds",
    "script",
  ] as const;
  for (const field of same) if (config[field] !== undefined) draft[field] = text(config[field]);
  return draft;
}

const optional = (typed: string) => (typed.trim() === "" ? null : Number(typed));

function headersOf(lines: string): Record<string, string> {
  const pairs = lines.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    pairs.map((line) => {
      const at = line.indexOf(":");
      return at < 0 ? [line.trim(), ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

function configOf(draft: Draft): Record<string, unknown> {
  switch (draft.checkType) {
    case "http":
      return {
        url: draft.url.trim(),
        method: draft.method,
        headers: headersOf(draft.headers),
        auth: {
          type: draft.authType,
          ...(draft.authType === "basic" && { username: draft.username, password: draft.password }),
          ...(draft.authType === "bearer" && { token: draft.token }),
          ...(draft.authType === "header" && { headerName: draft.headerName, headerValue: draft.headerValue }),
        },
        body: draft.body,
        bodyContentType: draft.bodyContentType,
        followRedirects: draft.followRedirects,
        skipTlsVerify: draft.skipTlsVerify,
        assertions: {
          statusCodes: draft.statusCodes
            .split(/[\s,]+/)
            .filter(Boolean)
            .map(Number),
          bodyContains: draft.bodyContains,
          bodyRegex: draft.bodyRegex,
          maxResponseTimeMs: optional(draft.maxResponseTimeMs),
          tlsMinDaysRemaining: optional(draft.tlsMinDaysRemaining),
        },
      };
    case "tcp":
      return {
        host: draft.host.trim(),
        port: Number(draft.port),
        useTls: draft.useTls,
        sendPayload: draft.sendPayload,
        expectContains: draft.expectContains,
        tlsMinDaysRemaining: draft.useTls ? optional(draft.tlsMinDaysRemaining) : null,
      };
    case "tls":
      return {
        host: draft.host.trim(),
        port: Number(draft.port),
        serverName: draft.serverName.trim(),
        skipTlsVerify: draft.skipTlsVerify,
        tlsMinDaysRemaining: optional(draft.tlsMinDaysRemaining) ?? 14,
      };
    case "dns":
      return {
        name: draft.dnsName.trim(),
        recordType: draft.recordType,
        expectedValue: draft.expectedValue.trim(),
        server: draft.server.trim(),
      };
    case "heartbeat":
      return { periodSeconds: Number(draft.periodSeconds), graceSeconds: Number(draft.graceSeconds) };
    case "browser":
      return {
        script: draft.script,
        env: Object.fromEntries(draft.env.map(({ name, value }) => [name.trim(), value])),
      };
  }
}

/** The request that saves a form. The server checks its values. */
export function requestOf(draft: Draft, enabled = true): CheckRequest {
  return {
    name: draft.name,
    checkType: draft.checkType,
    enabled,
    intervalSeconds: Number(draft.intervalSeconds),
    timeoutSeconds: Number(draft.timeoutSeconds),
    failureThreshold: Number(draft.failureThreshold),
    config: configOf(draft),
  };
}
