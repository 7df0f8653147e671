// Loading, empty and error states, common to all pages.
import type { UseQueryResult } from "@tanstack/react-query";
import { CircleAlert, Inbox, RotateCw } from "lucide-react";
import type { ReactNode } from "react";
import { ApiError } from "../api/client";
import { durationRound } from "../model/format";
import { sentence } from "../model/problem";
import { CopyButton } from "../ui/Copy";
import { useWait } from "./useWait";

interface ViewProps<T> {
  query: UseQueryResult<T>;
  /** Shown on the first load only, after 150 ms. */
  skeleton?: ReactNode;
  children: (data: T) => ReactNode;
}

/** Previous data stays visible, dimmed, while new data loads. An error with previous data is a strip above it. */
export function QueryView<T>({ query, skeleton, children }: ViewProps<T>) {
  if (query.data === undefined) {
    if (query.isError) return <ErrorState error={query.error} retry={() => query.refetch()} />;
    return (
      <div className="late" aria-busy="true">
        <span className="sr-only" role="status">
          Loading
        </span>
        {skeleton ?? <SkeletonRows />}
      </div>
    );
  }
  return (
    <>
      {query.isError && <ErrorState error={query.error} retry={() => query.refetch()} slim />}
      <div
        className={`transition-opacity duration-100 ${query.isPlaceholderData ? "opacity-60" : ""}`}
        aria-busy={query.isPlaceholderData || undefined}
      >
        {children(query.data)}
      </div>
    </>
  );
}

export function SkeletonRows({ rows = 8 }: { rows?: number }) {
  return (
    <div aria-hidden>
      {Array.from({ length: rows }, (_, i) => (
        <div key={i} className="flex h-[34px] items-center gap-6 border-line border-b px-3 last:border-b-0">
          <div className="skeleton h-3 flex-1" style={{ maxWidth: `${30 + ((i * 17) % 30)}%` }} />
          <div className="skeleton ml-auto h-3 w-14" />
          <div className="skeleton h-3 w-14 max-sm:hidden" />
          <div className="skeleton h-3 w-14 max-sm:hidden" />
        </div>
      ))}
    </div>
  );
}

export function SkeletonBox({ height }: { height: number }) {
  return <div aria-hidden className="skeleton w-full" style={{ height }} />;
}

export function ErrorState({ error, retry, slim }: { error: unknown; retry: () => void; slim?: boolean }) {
  const status = error instanceof ApiError ? error.status : 0;
  const message = error instanceof Error ? error.message : String(error);
  const wait = useWait(error);
  const hint = HINTS[status];
  return (
    <div
      role="alert"
      className={`flex flex-wrap items-center gap-x-3 gap-y-2 rounded-control bg-errorsoft text-body ${slim ? "mb-2 px-3 py-1.5" : "m-4 px-4 py-3"}`}
    >
      <CircleAlert size={16} aria-hidden className="shrink-0 text-error" />
      <p className="min-w-48 flex-1">
        <span className="font-medium">{sentence(message)}</span> {hint && <span className="text-ink2">{hint}</span>}
      </p>
      <CopyButton
        text={`${new Date().toISOString()} ${location.pathname}${location.search} status ${status}: ${message}`}
        label="Copy details of the error"
        words="Copy details"
      />
      <button type="button" className="btn" onClick={retry} disabled={wait > 0}>
        <RotateCw size={14} aria-hidden /> {wait > 0 ? `Retry in ${durationRound(wait * 1000)}` : "Try again"}
      </button>
    </div>
  );
}

const HINTS: Record<number, string> = {
  403: "Your role does not allow it, or you are not a member.",
  422: "Narrow the time range or add a filter.",
  429: "Too many requests from this address.",
  503: "The server is busy or still starting.",
  504: "It took too long: narrow the time range.",
};

interface EmptyProps {
  title: string;
  /** Empty state: its title and an explanation. */
  children?: ReactNode;
  action?: ReactNode;
  /** True if it replaces the whole page; its title is then the page's heading. */
  heading?: boolean;
}
export function Empty({ title, children, action, heading }: EmptyProps) {
  const Title = heading ? "h1" : "h2";
  return (
    <div className="flex flex-col items-center px-6 py-12 text-center [overflow-wrap:anywhere]">
      <Inbox size={22} aria-hidden className="text-ink2" />
      <Title tabIndex={-1} className="mt-2 font-semibold text-section">
        {title}
      </Title>
      {children && <div className="mt-1 w-full max-w-md text-ink2">{children}</div>}
      {action && <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}
