// Loads the segments of a recording, first those from the player's position on, and gives them to the player.
import { useCallback, useEffect, useMemo, useState } from "react";
import { readSegment, type Segment } from "../../model/replay/segment";
import type { SegmentRef } from "../../model/replay/timeline";
import type { Replay } from "./replay";

export interface LoadedSegments {
  segments: Segment[];
  /** Segments on their way. */
  pending: SegmentRef[];
  failed: SegmentRef[];
  retry: () => void;
}

/** Requests at the same time. */
const PARALLEL = 2;

/** `load` must not change between renders. */
export function useSegments(
  refs: readonly SegmentRef[],
  load: (ref: SegmentRef, signal: AbortSignal) => Promise<ArrayBuffer>,
  replay: Replay,
): LoadedSegments {
  const [segments, setSegments] = useState<Segment[]>([]);
  const [failed, setFailed] = useState<ReadonlySet<number>>(new Set());
  const [attempt, setAttempt] = useState(0);

  useEffect(() => {
    const stop = new AbortController();
    const done = loadedOf(replay);
    const open = new Map(refs.filter((ref) => !done.has(ref.index)).map((ref) => [ref.index, ref]));
    const work = async () => {
      for (let ref = next(open, replay); ref; ref = next(open, replay)) {
        open.delete(ref.index);
        try {
          const json = await load(ref, stop.signal);
          const segment = { ...readSegment(JSON.parse(new TextDecoder().decode(json)), ref.index), index: ref.index };
          if (stop.signal.aborted) return;
          done.add(ref.index);
          replay.add(ref.index, json);
          setSegments((old) => [...old, segment]);
        } catch {
          if (stop.signal.aborted) return;
          const { index } = ref;
          setFailed((old) => new Set(old).add(index));
        }
      }
    };
    for (let i = 0; i < PARALLEL; i++) void work();
    return () => stop.abort();
  }, [refs, load, replay, attempt]);

  const retry = useCallback(() => {
    setFailed(new Set());
    setAttempt((old) => old + 1);
  }, []);
  return useMemo(() => {
    const arrived = new Set(segments.map((one) => one.index));
    return {
      segments,
      pending: refs.filter((ref) => !arrived.has(ref.index) && !failed.has(ref.index)),
      failed: refs.filter((ref) => failed.has(ref.index)),
      retry,
    };
  }, [refs, segments, failed, retry]);
}

const LOADED = new WeakMap<Replay, Set<number>>();

/** The segments that the player has. */
function loadedOf(replay: Replay): Set<number> {
  const known = LOADED.get(replay) ?? new Set();
  LOADED.set(replay, known);
  return known;
}

/** The first segment that ends after the position, then the others in order. */
function next(open: Map<number, SegmentRef>, replay: Replay): SegmentRef | undefined {
  const waiting = [...open.values()].sort((a, b) => a.startMs - b.startMs);
  const now = replay.startMs + replay.state.at;
  return waiting.find((ref) => ref.endMs > now) ?? waiting[0];
}
