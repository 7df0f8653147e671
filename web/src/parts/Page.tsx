import { useLocation } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { brief } from "../model/format";
import { viewPage } from "../model/saved-views";
import { useTitle } from "../ui/theme";

// Loaded after the first paint, which shows its place.
const SavedViews = lazy(() => import("./SavedViews").then((part) => ({ default: part.SavedViews })));

/** Title row of a page, with its saved views if it has them. Navigation focuses the heading. */
export function PageHead({
  title,
  sub,
  actions,
  mono,
}: {
  title: string;
  sub?: ReactNode;
  actions?: ReactNode;
  mono?: boolean;
}) {
  useTitle(title);
  const page = useLocation({ select: (location) => viewPage(location.pathname) });
  return (
    <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 px-4 pt-4 pb-3">
      <div className="min-w-0">
        <h1
          tabIndex={-1}
          title={title.length > 300 ? title : undefined}
          className={`font-semibold text-title [overflow-wrap:anywhere] ${mono ? "font-mono text-section!" : ""}`}
        >
          {brief(title, 300)}
        </h1>
        {sub && <div className="mt-0.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-ink2">{sub}</div>}
      </div>
      {(actions || page) && (
        <div className="flex flex-wrap items-center gap-2">
          {actions}
          {page && (
            <Suspense fallback={<span className="h-7 w-20" />}>
              <SavedViews key={page} page={page} />
            </Suspense>
          )}
        </div>
      )}
    </div>
  );
}

export function Section({
  title,
  actions,
  children,
  flush,
}: {
  title: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  flush?: boolean;
}) {
  return (
    <section className="panel overflow-hidden">
      <div className="flex min-h-10 flex-wrap items-center justify-between gap-2 border-line border-b px-3 py-1.5">
        <h2 className="font-semibold">{title}</h2>
        {actions}
      </div>
      <div className={flush ? "overflow-x-auto" : "p-3"}>{children}</div>
    </section>
  );
}

/** Search and filters above a list. */
export function Toolbar({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap items-center gap-2 px-4 pb-3">{children}</div>;
}

export interface StatItem {
  label: string;
  value: ReactNode;
  help?: string;
  tone?: "error" | "warn" | "ok";
}
/** A row of large numbers. */
export function Stats({ items }: { items: StatItem[] }) {
  const tones = { error: "text-error", warn: "text-warn", ok: "text-ok" };
  return (
    <dl className="panel grid grid-cols-2 overflow-hidden sm:grid-cols-4 xl:grid-cols-[repeat(auto-fit,minmax(110px,1fr))]">
      {items.map((item) => (
        <div key={item.label} className="-mb-px -ml-px border-line border-b border-l px-3 py-2" title={item.help}>
          <dt className="text-caption text-ink2">{item.label}</dt>
          <dd className={`font-semibold text-title ${item.tone ? tones[item.tone] : ""}`}>{item.value}</dd>
        </div>
      ))}
    </dl>
  );
}
