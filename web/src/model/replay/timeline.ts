// The timeline of a session: its segments merged, idle and missing stretches, and marks.
import type { Click, CustomAction, LogLine, Navigation, NetworkCall, Segment, VideoChunk, Vital } from "./segment";

/** Without the user doing anything for so long, a session is idle. */
export const IDLE_MS = 10_000;
/** Part of an idle stretch that is still played at both of its ends. */
const IDLE_EDGE_MS = 1000;

/** Offsets in milliseconds after the start of the session. */
export interface Stretch {
  from: number;
  to: number;
}

export type MarkKind = "error" | "console" | "network" | "navigation";
export interface Mark {
  at: number;
  kind: MarkKind;
  title: string;
}

export interface Timeline {
  startMs: number;
  lengthMs: number;
  logs: LogLine[];
  network: NetworkCall[];
  navigation: Navigation[];
  actions: CustomAction[];
  vitals: Vital[];
  video: VideoChunk[];
  activity: number[];
  clicks: Click[];
  /** Stretches of which a segment is missing. */
  missing: Stretch[];
  idle: Stretch[];
  hasPicture: boolean;
}

export interface Bounds {
  startMs: number;
  endMs: number;
}

/** Start and end of the timeline: segments may begin before the session, or end after it. */
export function bounds(session: Bounds, segments: readonly Bounds[]): Bounds {
  let { startMs, endMs } = session;
  for (const one of segments) {
    if (one.startMs < startMs || !Number.isFinite(startMs)) startMs = one.startMs;
    if (one.endMs > endMs || !Number.isFinite(endMs)) endMs = one.endMs;
  }
  return { startMs, endMs: Math.max(endMs, startMs + 1) };
}

/** A segment that the server has. */
export interface SegmentRef extends Bounds {
  index: number;
}

/**
 * Segments in any order. One that arrived twice, or that repeats a part of another, counts once. See `bounds`.
 * `known` are the segments that can be had; a number that is missing among them is a hole in the recording. Without a
 * missing number, time between two segments is time in which nothing happened.
 */
export function buildTimeline(
  { startMs, endMs }: Bounds,
  segments: readonly Segment[],
  known: readonly SegmentRef[] = segments,
): Timeline {
  const byIndex = new Map(segments.map((one) => [`${one.index} ${one.startMs}`, one]));
  const ordered = [...byIndex.values()].sort((a, b) => a.startMs - b.startMs || a.index - b.index);
  const lengthMs = endMs - startMs;
  const pictured = ordered.filter((one) => one.events > 0 || one.video.length > 0);
  const missing = holes(known).map(({ from, to }) => ({ from: from - startMs, to: to - startMs }));
  const activity = ordered.flatMap((one) => one.activity).sort((a, b) => a - b);
  const navigation = changes(merge(ordered, (one) => one.navigation));
  const hasVideo = ordered.some((one) => one.video.length > 0);
  return {
    startMs,
    lengthMs,
    logs: merge(ordered, (one) => one.logs),
    network: merge(ordered, (one) => one.network),
    navigation,
    actions: merge(ordered, (one) => one.actions),
    vitals: merge(ordered, (one) => one.vitals),
    video: merge(ordered, (one) => one.video),
    activity: activity.map((at) => at - startMs),
    clicks: merge(ordered, (one) => one.clicks),
    missing,
    // A video shows no input, so nothing of it is known to be idle.
    idle:
      pictured.length && !hasVideo
        ? without(idleStretches([...activity, ...navigation.map(({ at }) => at)], { startMs, endMs }), missing)
        : [],
    hasPicture: pictured.length > 0,
  };
}

/** Entries of all segments by time; equal entries count once. */
function merge<T extends { at: number }>(segments: readonly Segment[], of: (segment: Segment) => T[]): T[] {
  const seen = new Set<string>();
  const out: T[] = [];
  for (const segment of segments) {
    // Within one segment, equal lines are lines that were written twice.
    const own = of(segment).map((entry) => [JSON.stringify(entry).slice(0, 2000), entry] as const);
    for (const [key, entry] of own) if (!seen.has(key)) out.push(entry);
    for (const [key] of own) seen.add(key);
  }
  return out.sort((a, b) => a.at - b.at);
}

/** Without page loads that only repeat the address, as each segment begins with one. */
function changes(all: Navigation[]): Navigation[] {
  let address = "";
  return all.filter((one) => {
    const isRepeated = one.action === "load" && samePage(one.to, address);
    address = one.to || address;
    return !isRepeated;
  });
}

function samePage(a: string, b: string): boolean {
  return b !== "" && (a === b || path(a) === path(b));
}

/** Path with query and fragment of an address. */
export function path(address: string): string {
  return address.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "") || "/";
}

/** Union of stretches; those closer than `near` become one. */
export function join(stretches: readonly Stretch[], near = 0): Stretch[] {
  const out: Stretch[] = [];
  for (const { from, to } of [...stretches].sort((a, b) => a.from - b.from)) {
    const last = out.at(-1);
    if (last && from - last.to <= near) last.to = Math.max(last.to, to);
    else out.push({ from, to });
  }
  return out;
}

/** Times between two segments whose numbers do not follow each other. The first number is 0. */
function holes(known: readonly SegmentRef[]): Stretch[] {
  const out: Stretch[] = [];
  const ordered = [...known].sort((a, b) => a.index - b.index);
  for (const [i, one] of ordered.entries()) {
    const before = ordered[i - 1];
    if (before && one.index - before.index > 1 && one.startMs > before.endMs)
      out.push({ from: before.endMs, to: one.startMs });
  }
  return out;
}

/** Stretches of at least `IDLE_MS` without activity, less an edge on both sides. `activity` in any order. */
export function idleStretches(activity: readonly number[], { startMs, endMs }: Bounds): Stretch[] {
  const times = [startMs, ...activity.filter((at) => at > startMs && at < endMs).sort((a, b) => a - b), endMs];
  const out: Stretch[] = [];
  for (let i = 1; i < times.length; i++) {
    if (times[i] - times[i - 1] < IDLE_MS) continue;
    const isLast = i === times.length - 1;
    out.push({
      from: times[i - 1] - startMs + IDLE_EDGE_MS,
      to: times[i] - startMs - (isLast ? 0 : IDLE_EDGE_MS),
    });
  }
  return out;
}

/** Where playing goes on from `at`: after the stretch that holds it, or there. */
export function afterStretch(stretches: readonly Stretch[], at: number): number {
  const inside = stretches.find(({ from, to }) => from <= at && at < to);
  return inside ? inside.to : at;
}

/** `stretches` less `holes`, which do not overlap each other. */
function without(stretches: readonly Stretch[], holes: readonly Stretch[]): Stretch[] {
  return holes.reduce<Stretch[]>(
    (left, hole) =>
      left.flatMap(({ from, to }) =>
        hole.to <= from || to <= hole.from
          ? [{ from, to }]
          : [
              { from, to: Math.min(to, hole.from) },
              { from: Math.max(from, hole.to), to },
            ].filter((one) => one.to > one.from),
      ),
    [...stretches],
  );
}

/** Share of the busiest slot's activity in each of `slots` equal parts of the session. */
export function density(activity: readonly number[], lengthMs: number, slots: number): number[] {
  const counts = new Array<number>(slots).fill(0);
  for (const at of activity) {
    const slot = Math.floor((at / lengthMs) * slots);
    if (slot >= 0 && slot <= slots) counts[Math.min(slot, slots - 1)]++;
  }
  const most = Math.max(1, ...counts);
  return counts.map((one) => one / most);
}

/** Index of the last entry at or before `at`; -1 before the first. `times` is ascending. */
export function lastBefore(times: readonly number[], at: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export const isFailed = (call: NetworkCall) => call.error !== "" || call.status === null || call.status >= 400;

/** Marks by time. `errors` are the issues of the session. */
export function marks(timeline: Timeline, errors: readonly { at: number; title: string }[]): Mark[] {
  const { startMs, logs, network, navigation } = timeline;
  return [
    ...errors.map((one): Mark => ({ at: one.at - startMs, kind: "error", title: one.title })),
    ...logs
      .filter((one) => one.level === "error")
      .map((one): Mark => ({ at: one.at - startMs, kind: "console", title: one.message })),
    ...network.filter(isFailed).map(
      (one): Mark => ({
        at: one.at - startMs,
        kind: "network",
        title: `${one.method} ${one.url} ${one.status ?? one.error}`,
      }),
    ),
    ...navigation.map((one): Mark => ({ at: one.at - startMs, kind: "navigation", title: path(one.to) })),
  ].sort((a, b) => a.at - b.at);
}

/** 83,000 -> "1:23"; from an hour on "1:02:03". */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (value: number) => String(value).padStart(2, "0");
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** Seconds of an offset to a tenth: the same in the URL and in the slider, so that a link opens where it was copied. */
export const toTenths = (ms: number): number => Math.round(ms / 100) / 10;

export const SPEEDS = [0.5, 1, 2, 4, 8] as const;

/** The next speed up or down. */
export function stepSpeed(speed: number, step: 1 | -1): number {
  const at = SPEEDS.findIndex((one) => one >= speed);
  return SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, (at < 0 ? SPEEDS.length - 1 : at) + step))];
}
