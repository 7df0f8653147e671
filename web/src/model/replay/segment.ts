// Reads one stored segment of a session recording (WIRE 1.7): console lines, actions, video chunks, and from the rrweb
// events the moments in which the user did something. Whatever does not have the expected shape is left out.

import { Labels } from "./labels";

export type Level = "debug" | "info" | "warn" | "error";

/** All times are milliseconds since the epoch. */
export interface LogLine {
  at: number;
  level: Level;
  message: string;
}
export interface NetworkCall {
  at: number;
  method: string;
  url: string;
  /** Null: there was no response. */
  status: number | null;
  durationMs: number | null;
  requestBytes: number | null;
  responseBytes: number | null;
  error: string;
  /** Value of the header `traceway-trace-id`, if the SDK sends it. */
  traceId: string;
}
export interface Navigation {
  at: number;
  action: string;
  from: string;
  to: string;
}
export interface CustomAction {
  at: number;
  category: string;
  name: string;
  data: string;
}
export interface Vital {
  at: number;
  name: string;
  value: number;
}
/** A click or a tap. */
export interface Click {
  at: number;
  /** The words on what was clicked; "" if unknown. */
  label: string;
}
/** One MP4 file of a Flutter app. */
export interface VideoChunk {
  at: number;
  durationMs: number;
  base64: string;
}

export interface Segment {
  index: number;
  startMs: number;
  endMs: number;
  /** Number of rrweb events. */
  events: number;
  /** The picture can begin in this segment: it has the whole page. */
  hasSnapshot: boolean;
  /** Times at which the user moved, clicked, typed or scrolled, ascending. */
  activity: number[];
  clicks: Click[];
  logs: LogLine[];
  network: NetworkCall[];
  navigation: Navigation[];
  actions: CustomAction[];
  vitals: Vital[];
  video: VideoChunk[];
}

type Raw = Record<string, unknown>;

const object = (value: unknown): Raw => (typeof value === "object" && value !== null ? (value as Raw) : {});
const list = (value: unknown): Raw[] => (Array.isArray(value) ? value.map(object) : []);
const text = (value: unknown): string => (typeof value === "string" ? value : value == null ? "" : json(value));
const number = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null);

function json(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return String(value);
  }
}

/** Milliseconds since the epoch, from RFC 3339 text or a number of seconds, milliseconds, microseconds or nanoseconds. */
export function instant(value: unknown): number {
  if (typeof value === "string") return /^\d+$/.test(value) ? instant(Number(value)) : Date.parse(value);
  if (typeof value !== "number" || !(value > 0)) return Number.NaN;
  if (value < 1e11) return value * 1000;
  if (value < 1e14) return value;
  return value < 1e17 ? value / 1000 : value / 1e6;
}

const LEVELS: Record<string, Level> = {
  debug: "debug",
  trace: "debug",
  warn: "warn",
  warning: "warn",
  error: "error",
  fatal: "error",
};
const VITALS = ["LCP", "INP", "CLS", "FCP", "TTFB", "FID"];
/** rrweb: incremental events of these sources come from the user. */
const MOVES = [1, 6, 12];
const CLICK = 2;
const USER_SOURCES = [...MOVES, CLICK, 3, 5];
/** rrweb's kinds of mouse interaction that are clicks and taps. */
const CLICKS = [2, 4, 9];

/** `index` is used if the document has none. */
export function readSegment(document: unknown, index = 0): Segment {
  const raw = object(document);
  const events = list(raw.events);
  const segment: Segment = {
    index: number(raw.segmentIndex) ?? index,
    startMs: instant(raw.startedAt),
    endMs: instant(raw.endedAt),
    events: 0,
    hasSnapshot: false,
    activity: [],
    clicks: [],
    logs: [],
    network: [],
    navigation: [],
    actions: [],
    vitals: [],
    video: [],
  };
  readEvents(events, segment);
  for (const one of list(raw.logs)) {
    const at = instant(one.timestamp);
    if (Number.isFinite(at))
      segment.logs.push({ at, level: LEVELS[text(one.level).toLowerCase()] ?? "info", message: text(one.message) });
  }
  for (const one of list(raw.actions)) readAction(one, segment);
  const times = [...segment.logs, ...segment.network, ...segment.navigation, ...segment.actions].map(({ at }) => at);
  if (!Number.isFinite(segment.startMs)) segment.startMs = least(times);
  if (!Number.isFinite(segment.endMs)) segment.endMs = Math.max(segment.startMs, greatest(times));
  // Chunks without a time of their own follow each other from the start of the segment.
  let next = segment.startMs;
  for (const chunk of segment.video) {
    if (!Number.isFinite(chunk.at)) chunk.at = next;
    next = chunk.at + chunk.durationMs;
  }
  if (segment.video.length) segment.endMs = Math.max(segment.endMs || 0, next);
  segment.activity.sort((a, b) => a - b);
  return segment;
}

const least = (times: number[]) => times.reduce((best, at) => Math.min(best, at), Number.POSITIVE_INFINITY);
const greatest = (times: number[]) => times.reduce((best, at) => Math.max(best, at), Number.NEGATIVE_INFINITY);

function readEvents(events: Raw[], segment: Segment): void {
  const labels = new Labels();
  for (const event of events) {
    if (event.type === "flutter_video" || (typeof event.data === "string" && event.format === "mp4")) {
      const durationMs = (number(event.durationSeconds) ?? 0) * 1000;
      const at = instant(event.timestamp);
      if (typeof event.data === "string") segment.video.push({ at, durationMs, base64: event.data });
      continue;
    }
    const at = number(event.timestamp);
    const { type } = event;
    if (at === null || typeof type !== "number") continue;
    segment.events++;
    if (!(segment.startMs <= at)) segment.startMs = at;
    if (!(segment.endMs >= at)) segment.endMs = at;
    const data = object(event.data);
    if (type === 2) {
      segment.hasSnapshot = true;
      labels.clear();
      labels.add(data.node, 0);
    }
    // A page that was loaded anew, with its address.
    if (type === 4 && typeof data.href === "string") readPage(at, data.href, segment);
    if (type === 5) readVital(text(data.tag), data.payload, at, segment);
    if (type === 3 && data.source === 0)
      for (const one of list(data.adds)) labels.add(one.node, number(one.parentId) ?? 0);
    if (type !== 3 || !USER_SOURCES.includes(data.source as number)) continue;
    segment.activity.push(at);
    if (data.source === CLICK && CLICKS.includes(data.type as number))
      segment.clicks.push({ at, label: labels.of(data.id) });
  }
}

/** The recorder repeats the address with every segment; only changes are navigations. */
function readPage(at: number, href: string, segment: Segment): void {
  const last = segment.navigation.findLast((one) => one.action === "load");
  if (last?.to !== href) segment.navigation.push({ at, action: "load", from: "", to: href });
}

function readAction(one: Raw, segment: Segment): void {
  const at = instant(one.timestamp);
  if (!Number.isFinite(at)) return;
  switch (one.type) {
    case "network":
      segment.network.push({
        at,
        method: text(one.method).toUpperCase() || "GET",
        url: text(one.url),
        status: number(one.statusCode) || null,
        durationMs: number(one.durationMs),
        requestBytes: number(one.requestBytes),
        responseBytes: number(one.responseBytes),
        error: text(one.error),
        traceId: text(one.distributedTraceId ?? one.traceId),
      });
      return;
    case "navigation":
      segment.navigation.push({ at, action: text(one.action) || "push", from: text(one.from), to: text(one.to) });
      return;
    default: {
      const [category, name] = [text(one.category), text(one.name)];
      if (readVital(/vital/i.test(category) ? name : "", one.data, at, segment)) return;
      segment.actions.push({ at, category, name, data: one.data === undefined ? "" : text(one.data) });
    }
  }
}

function readVital(name: string, payload: unknown, at: number, segment: Segment): boolean {
  const data = object(payload);
  const named = VITALS.find((one) => one === name.toUpperCase() || one === text(data.name).toUpperCase());
  const value = number(payload) ?? number(data.value);
  if (!named || value === null) return false;
  segment.vitals.push({ at, name: named, value });
  return true;
}
