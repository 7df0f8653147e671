// The time range of every page: text in the URL, resolved against one "now" (the anchor) shared by all queries, so
// that a page is consistent. Refresh and auto-refresh move the anchor.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useLocation, useNavigate, useSearch } from "@tanstack/react-router";
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";
import { absolute, DEFAULT_RANGE, isLive, type Range, resolveRange, type Span } from "../model/range";
import { isoFromMs, parseMs } from "../model/time";
import { request } from "./client";
import { useProjectId } from "./hooks";
import type { GetRoutes, RangeBody } from "./routes";

interface RangeState {
  range: Range;
  span: Span;
  /** The default range, shortened to the time since data began. */
  isSinceBeginning: boolean;
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
  const began = useBeginning(!search.from && !!projectId);
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
    const whole = resolveRange(range, nowMs);
    const span = since(whole, search.from ? undefined : began);
    const put = (change: Record<string, unknown>) =>
      navigate({
        to: ".",
        search: (old: Record<string, unknown>) => ({ ...old, page: undefined, ...change }),
      } as never);
    return {
      range,
      span,
      isSinceBeginning: span !== whole,
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
  }, [from, to, nowMs, every, navigate, refresh, began, search.from]);

  return <Context.Provider value={state}>{children}</Context.Provider>;
}

/** Data is younger than the default range: it begins there, a minute before. */
function since(span: Span, beganMs: number | undefined): Span {
  if (!beganMs || beganMs <= span.fromMs || beganMs >= span.toMs) return span;
  return { ...span, fromMs: beganMs - 60_000 };
}

/** When the project's data began, in milliseconds, if within the last day. */
function useBeginning(enabled: boolean): number | undefined {
  const projectId = useProjectId();
  const { data } = useQuery({
    queryKey: ["data-since", projectId],
    queryFn: ({ signal }) =>
      request<GetRoutes["/api/overview/data-since"]>("GET", "/api/overview/data-since", {
        query: { projectId },
        signal,
      }),
    enabled: enabled && projectId !== "none",
    staleTime: 60_000,
  });
  return data?.dataSince ? parseMs(data.dataSince) : undefined;
}

export function useRange(): RangeState {
  const state = useContext(Context);
  if (!state) throw new Error("useRange needs a RangeProvider above it");
  return state;
}
