// The live tail of logs: one streamed response, opened again after it breaks off.
import { useEffect, useReducer, useState } from "react";
import { EMPTY, type LiveChange, type LiveState, liveLogs } from "../model/live-logs";
import { parseEvents } from "../model/sse";
import { ApiError, openStream } from "./client";
import { useGlobalFilter, withFilter } from "./global-filter";
import { useProjectId } from "./hooks";

const TAIL = "/api/logs/tail";
const RETRY_MS = 2000;
/** The browser's message of a stream that broke off is of no use to a reader. */
const BROKEN = "The connection broke off.";

export interface LiveTail {
  state: LiveState;
  change: (change: LiveChange) => void;
  status: "connecting" | "open" | "ended";
  /** Error that ended the latest connection. */
  error: unknown;
}

/** Records as they are stored, while the page is open. Another query starts with an empty list. */
export function useLiveLogs(query: string): LiveTail {
  const projectId = useProjectId();
  const filter = useGlobalFilter();
  const [state, change] = useReducer(liveLogs, EMPTY);
  const [status, setStatus] = useState<LiveTail["status"]>("connecting");
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const aborted = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    change({ type: "clear" });
    const run = async () => {
      setStatus("connecting");
      try {
        const answer = await openStream(TAIL, withFilter(filter, TAIL, { projectId, query }), aborted.signal);
        setStatus("open");
        setError(null);
        await read(answer, change);
        throw new Error(BROKEN);
      } catch (failed) {
        if (aborted.signal.aborted) return;
        setError(failed);
        // A wrong query stays wrong, and a session that has ended does not begin again.
        const isFinal = failed instanceof ApiError && failed.status >= 400 && failed.status < 500;
        setStatus(isFinal ? "ended" : "connecting");
        if (!isFinal) timer = setTimeout(run, RETRY_MS);
      }
    };
    run();
    return () => {
      aborted.abort();
      clearTimeout(timer);
    };
  }, [projectId, query, filter]);
  return { state, change, status, error };
}

async function read(answer: Response, change: (change: LiveChange) => void): Promise<void> {
  if (!answer.body) return;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parsed = parseEvents(rest + value);
    rest = parsed.rest;
    for (const event of parsed.events) {
      if (event.name === "logs") change({ type: "logs", ...JSON.parse(event.data) });
    }
  }
}
