// State of one player: position, speed, idle skipping. The engine (rrweb's frame or the videos) reports positions; the
// state decides what is skipped, and waits at segments that have not arrived.
import { useSyncExternalStore } from "react";
import { afterStretch, join, type Stretch } from "../../model/replay/timeline";
import type { NotLoaded } from "../../replay-frame/protocol";

/** Offsets in milliseconds after the start of the session. */
export interface Engine {
  play: () => void;
  pause: () => void;
  seek: (at: number) => void;
  speed: (value: number) => void;
  /** One segment as the server sent it. The engine may keep the buffer. */
  add: (segment: number, json: ArrayBuffer) => void;
  close: () => void;
}

export interface ReplayState {
  at: number;
  isPlaying: boolean;
  /** Nobody has played or moved it. */
  isFresh: boolean;
  /** The first part has a picture. */
  isDrawn: boolean;
  /** Playing, but the segment at the position has not arrived. */
  isWaiting: boolean;
  speed: number;
  skipsIdle: boolean;
  size: { width: number; height: number };
  notLoaded: NotLoaded;
  /** The recorded page was too large to be built whole. */
  isCut: boolean;
  problem: string | null;
}

const SKIP_KEY = "tidewatch.replay.skip-idle";
const NOTHING: NotLoaded = { images: 0, styles: 0, fonts: 0, other: 0 };

export class Replay {
  state: ReplayState;
  private engine: Engine | null = null;
  private readonly listeners = new Set<() => void>();
  private queue: [number, ArrayBuffer][] = [];
  private readonly lost = new Map<number, NotLoaded>();
  private idle: Stretch[] = [];
  private pending: Stretch[] = [];

  /** `startMs` is the start of the session, `at` the first position. */
  constructor(
    readonly startMs: number,
    readonly lengthMs: number,
    at = 0,
  ) {
    this.state = {
      at: Math.max(0, Math.min(at, lengthMs)),
      isPlaying: false,
      isFresh: at <= 0,
      isDrawn: false,
      isWaiting: false,
      speed: 1,
      skipsIdle: localStorage.getItem(SKIP_KEY) !== "off",
      size: { width: 1280, height: 720 },
      notLoaded: NOTHING,
      isCut: false,
      problem: null,
    };
  }

  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private set(change: Partial<ReplayState>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.listeners) listener();
  }

  /** The engine gets every segment that has arrived, and the position. One player has one engine. */
  attach(engine: Engine): void {
    this.engine = engine;
    for (const [segment, json] of this.queue) engine.add(segment, json);
    this.queue = [];
    engine.speed(this.state.speed);
    engine.seek(this.state.at);
    this.run();
  }

  detach(engine: Engine): void {
    engine.close();
    if (this.engine === engine) this.engine = null;
  }

  add(segment: number, json: ArrayBuffer): void {
    if (this.engine) this.engine.add(segment, json);
    else this.queue.push([segment, json]);
  }

  /** `skipped`: idle stretches and those without a picture; `pending`: stretches that have not arrived. */
  setStretches(skipped: Stretch[], pending: Stretch[]): void {
    this.idle = join(skipped);
    this.pending = pending;
    this.run();
  }

  play(): void {
    const isAtEnd = this.state.at >= this.lengthMs - 1;
    if (isAtEnd) this.engine?.seek(0);
    this.set({ isPlaying: true, isFresh: false, problem: null, ...(isAtEnd ? { at: 0 } : {}) });
    this.skip();
    this.run();
  }

  pause(): void {
    this.set({ isPlaying: false, isWaiting: false });
    this.engine?.pause();
  }

  toggle(): void {
    if (this.state.isPlaying) this.pause();
    else this.play();
  }

  seek(at: number): void {
    const next = Math.max(0, Math.min(at, this.lengthMs));
    this.set({ at: next, isFresh: false });
    this.engine?.seek(next);
    this.run();
  }

  setSpeed(speed: number): void {
    this.set({ speed });
    this.engine?.speed(speed);
  }

  setSkipsIdle(skipsIdle: boolean): void {
    if (skipsIdle) localStorage.removeItem(SKIP_KEY);
    else localStorage.setItem(SKIP_KEY, "off");
    this.set({ skipsIdle });
    if (this.state.isPlaying) this.skip();
  }

  // What the engine reports.

  moved(at: number): void {
    if (!this.state.isPlaying || this.state.isWaiting) return;
    this.set({ at: Math.min(at, this.lengthMs) });
    if (!this.skip() && this.mustWait()) this.run();
  }

  ended(): void {
    this.set({ at: this.lengthMs, isPlaying: false, isWaiting: false });
  }

  resized(width: number, height: number): void {
    const { size } = this.state;
    if (size.width !== width || size.height !== height) this.set({ size: { width, height } });
    if (!this.state.isDrawn) this.set({ isDrawn: true });
  }

  added(segment: number, lost: NotLoaded, isCut: boolean): void {
    this.lost.set(segment, lost);
    const notLoaded = { ...NOTHING };
    // Each segment begins with the whole page, so their sums would count one image many times.
    for (const one of this.lost.values())
      for (const key of ["images", "styles", "fonts", "other"] as const)
        notLoaded[key] = Math.max(notLoaded[key], one[key]);
    this.set({ notLoaded, isCut: this.state.isCut || isCut });
  }

  failed(problem: string): void {
    this.set({ problem });
  }

  /** Jumps over the idle stretch at the position. True if it did. */
  private skip(): boolean {
    const { at, skipsIdle } = this.state;
    if (!skipsIdle) return false;
    const next = afterStretch(this.idle, at);
    if (next <= at) return false;
    if (next >= this.lengthMs - 1) {
      this.engine?.pause();
      this.engine?.seek(this.lengthMs);
      this.ended();
    } else {
      this.seek(next);
    }
    return true;
  }

  private mustWait(): boolean {
    const { at } = this.state;
    return this.pending.some(({ from, to }) => from <= at && at < to);
  }

  /** Plays, or waits for the segment at the position. */
  private run(): void {
    const { isPlaying, isWaiting } = this.state;
    if (!isPlaying) return;
    if (this.mustWait()) {
      if (!isWaiting) this.set({ isWaiting: true });
      this.engine?.pause();
    } else {
      if (isWaiting) this.set({ isWaiting: false });
      this.engine?.play();
    }
  }
}

export function useReplay<T>(replay: Replay, select: (state: ReplayState) => T): T {
  return useSyncExternalStore(replay.subscribe, () => select(replay.state));
}
