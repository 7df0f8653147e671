import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "./client";

/** 4xx responses are final; other errors are retried twice. */
function retry(failures: number, error: Error): boolean {
  const final = error instanceof ApiError && error.status >= 400 && error.status < 500;
  return !final && failures < 2;
}

export const queryClient = new QueryClient({
  defaultOptions: { queries: { staleTime: 15_000, gcTime: 180_000, retry, refetchOnWindowFocus: false } },
});
