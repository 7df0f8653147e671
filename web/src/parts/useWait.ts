import { useEffect, useReducer } from "react";
import { ApiError } from "../api/client";
import { secondsLeft } from "../model/retry";

/** Seconds until the refused request may be retried (Retry-After). Counts down, also after the tab was suspended. */
export function useWait(error: unknown): number {
  const until = error instanceof ApiError && error.retryAfter ? error.at + error.retryAfter * 1000 : 0;
  const [, tick] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    if (secondsLeft(until, Date.now()) === 0) return;
    const timer = setInterval(() => {
      tick();
      if (secondsLeft(until, Date.now()) === 0) clearInterval(timer);
    }, 500);
    return () => clearInterval(timer);
  }, [until]);
  return secondsLeft(until, Date.now());
}
