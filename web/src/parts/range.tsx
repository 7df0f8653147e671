// The time range of every page: text in the URL, resolved against one "now" (the anchor) shared by all queries, so
// that a page is consistent. Refresh and auto-refresh move the anchor.
import { useQueryClient } from "@tanstack/react-query";
import { useLocation, useNavigate, useSearch } from "@tanstack/react-router";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";
import { useProjectId } from "../api/hooks";
import type { RangeBody } from "../api/routes";
import { absolute, DEFAULT_RANGE, isLive, type Range, resolveRange, type Span } from "../model/range";
import { isoFromMs } from "../model/time";

interface RangeState {
  range: Range;
  span: Span;
  /** Fields for request bodies. */
  body: RangeBody;
  nowMs: number;
  /** Seconds between automatic refreshes; 0 is off. */
  every: number;
  setRange: (range: Range) => void;
  zoomTo: (span: Span) => void;
  setEvery: (seconds: number) => void;
  refresh: () => void;
}

const Context = createContext<RangeState | null>(null);
/** Navigation renews an anchor that is older than this. */
const STALE_MS = 10_000;

export function RangeProvider({ children }: { children: ReactNode }) {
  const search = useSearch({ strict: false }) as { from?: string; to?: string; every?: number };
  const navigate = useNavigate();
  const client = useQueryClient();
  const projectId = useProjectId();
  const path = useLocation({ select: (location) => location.pathname });
  const from = search.from ?? DEFAULT_RANGE.from;
  const to = search.to ?? DEFAULT_RANGE.to;
  const every = search.every ?? 0;
  const [nowMs, setNow] = useState(() => Date.now());

  // Deliberate: only a new page or range renews the anchor
  useEffect(() => {
    setNow((old) => (Date.now() - old > STALE_MS ? Date.now() : old));
  }, [path, from, to]);

  const refresh = useCallback(() => {
    setNow(Date.now());
    client.invalidateQueries({ queryKey: [projectId] });
  }, [client, projectId]);

  useEffect(() => {
    if (!every || to !== "now") return;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") setNow(Date.now());
    }, every * 1000);
    return () => clearInterval(timer);
  }, [every, to]);

  const state = useMemo<RangeState>(() => {
    const range = { from, to };
    const span = resolveRange(range, nowMs);
    const put = (change: Record<string, unknown>) =>
      navigate({
        to: ".",
        search: (old: Record<string, unknown>) => ({ ...old, page: undefined, ...change }),
      } as never);
    return {
      range,
      span,
      body: { fromDate: isoFromMs(span.fromMs), toDate: isoFromMs(span.toMs) },
      nowMs,
      every,
      setRange: (next) => {
        if (isLive(next)) setNow(Date.now());
        put({
          from: next.from === DEFAULT_RANGE.from && isLive(next) ? undefined : next.from,
          to: isLive(next) ? undefined : next.to,
        });
      },
      zoomTo: (next) => put({ ...absolute(next) }),
      setEvery: (seconds) => put({ every: seconds || undefined }),
      refresh,
    };
  }, [from, to, nowMs, every, navigate, refresh]);

  return <Context.Provider value={state}>{children}</Context.Provider>;
}

export function useRange(): RangeState {
  const state = useContext(Context);
  if (!state) throw new Error("useRange needs a RangeProvider above it");
  return state;
}
