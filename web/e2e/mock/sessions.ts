// Sessions of the mock. The recording is one that the real SDK made of a small shop, stretched and with an idle minute.
import { readFileSync } from "node:fs";
import type { SessionDetail, SessionRow } from "../../src/api/sessions";
import { type Body, boot, iso, page } from "./common.ts";
import { random } from "./random.ts";
import { SHOP_TRACE } from "./trace.ts";

interface Recorded {
  session: { attributes: Record<string, string> };
  error: { stackTrace: string; recordedAt: number };
  segments: Record<string, unknown>[];
  clip: Record<string, unknown>;
}
const RECORDED = JSON.parse(readFileSync(new URL("./recording.json", import.meta.url), "utf8")) as Recorded;

/** Offset of the recording -> offset of the mock: four times as long, with an idle minute in the middle. */
const stretch = (ms: number) => ms * 4 + (ms > 3300 ? 60_000 : 0);
const LENGTH = stretch(9000);
const STAMPS = new Set(["timestamp", "startedAt", "endedAt"]);

function shifted(value: unknown, startMs: number): unknown {
  if (Array.isArray(value)) return value.map((one) => shifted(one, startMs));
  if (typeof value !== "object" || value === null) return value;
  const isEvent = "data" in value && "type" in value && typeof (value as { type: unknown }).type === "number";
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      if (!STAMPS.has(key) || typeof one !== "number") return [key, shifted(one, startMs)];
      const at = startMs + stretch(one);
      return [key, isEvent ? at : iso(at)];
    }),
  );
}

const USERS = ["ada@example.com", "grace@example.com", "", "linus@example.com", "u_5123", "radia@example.com"];
const AGENTS = [
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Safari/605.1.15",
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:150.0) Gecko/20100101 Firefox/150.0",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1",
];
const PATHS = ["/", "/basket", "/books/night-tides", "/search?q=harbour", "/account/orders"];

/** As the server names browser and system of `AGENTS`. */
const NAMES = [
  ["Chrome 150", "Linux"],
  ["Safari 19", "macOS"],
  ["Firefox 150", "Windows"],
  ["Safari 19", "iOS"],
];

/** The session of the newest event of the first issue. */
export const RECORDED_SESSION = sessionId(0);

const next = random(20);
const pick = <T>(from: T[]): T => from[Math.floor(next() * from.length)];
const ROWS: SessionRow[] = Array.from({ length: 64 }, (_, i) => {
  const started = boot - 90_000 - i * 61_000;
  const user = i === 0 ? USERS[0] : pick(USERS);
  const length = i === 0 ? LENGTH : Math.round(next() ** 3 * 2_400_000) + 4000;
  const isOpen = i === 2 || i === 5;
  const agent = Math.floor(next() * AGENTS.length);
  return {
    id: sessionId(i),
    startedAt: iso(started),
    endedAt: isOpen ? null : iso(started + length),
    duration: isOpen ? 0 : length * 1e6,
    attributes: {
      ...RECORDED.session.attributes,
      ...(user ? { userId: user } : { userId: "" }),
      userAgent: AGENTS[agent],
      path: i === 0 ? "/" : pick(PATHS),
      "client.ip": `203.0.113.${i}`,
    },
    clientIP: `203.0.113.${i}`,
    userId: user,
    browser: NAMES[agent][0],
    os: NAMES[agent][1],
    linkedTraceIds: [],
    appVersion: "2.4.1",
    pageCount: 1 + Math.floor(next() * 9),
    errorCount: i === 0 ? 1 : next() > 0.8 ? 1 + Math.floor(next() * 4) : 0,
    hasRecording: i % 9 !== 8,
  };
});

function sessionId(i: number): string {
  return `4b0e6a5c-2a7d-4f2e-9a0b-${String(i).padStart(12, "0")}`;
}

function detail(id: string): SessionDetail {
  const session = ROWS.find((one) => one.id === id) ?? ROWS[0];
  const startMs = Date.parse(session.startedAt);
  const stored = session.hasRecording ? RECORDED.segments.map((one) => shifted(one, startMs)) : [];
  return {
    session,
    segments: (stored as SessionDetail["segments"]).map(({ segmentIndex, startedAt, endedAt }) => ({
      segmentIndex,
      startedAt,
      endedAt,
      eventBytes: 20_000,
    })),
    linkedTraceIds: session.errorCount ? [SHOP_TRACE] : [],
    errors: session.errorCount
      ? [
          {
            id: "7b0e6a5c-2a7d-4f2e-9a0b-000000000001",
            exceptionHash: "a1b2c3d4e5f60718",
            title: RECORDED.error.stackTrace.split("\n")[0],
            recordedAt: iso(startMs + stretch(RECORDED.error.recordedAt)),
            traceId: SHOP_TRACE,
            spanId: "",
            isMessage: false,
          },
        ]
      : [],
  };
}

function rows(body: Body): SessionRow[] {
  const wants = body as Body & { user?: string; page?: string; browser?: string; hasErrors?: boolean };
  return ROWS.filter(
    ({ attributes, errorCount, userId, browser }) =>
      (!wants.hasErrors || (errorCount ?? 0) > 0) &&
      (!wants.user || userId.includes(wants.user)) &&
      (!wants.page || (attributes?.path ?? "").includes(wants.page)) &&
      (!wants.browser || browser.includes(wants.browser)),
  );
}

type Handler = (body: Body, url: URL, parts: string[]) => unknown;
export const SESSIONS: [string, Handler][] = [
  [
    "GET /api/exception-stack-traces/by-id/:id/recording",
    () => shifted(RECORDED.clip, boot - stretch(RECORDED.error.recordedAt)),
  ],
  ["DELETE /api/sessions", () => ({ deleted: 3 })],
  ["POST /api/sessions", (body) => page(rows(body), body)],
  ["POST /api/sessions/:id", (_body, _url, parts) => detail(parts[3])],
  [
    "GET /api/sessions/:id/recording",
    (_body, url, parts) => {
      const startMs = Date.parse(detail(parts[3]).session.startedAt);
      const index = Number(url.searchParams.get("segment"));
      return shifted(
        RECORDED.segments.find((one) => one.segmentIndex === index),
        startMs,
      );
    },
  ],
];
