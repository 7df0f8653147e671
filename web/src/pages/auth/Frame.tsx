import type { ReactNode } from "react";
import { Logo } from "../../parts/Logo";
import { useTitle } from "../../ui/theme";

/** Card layout of pages that need no session, and of confirmation pages. */
export function AuthFrame({
  title,
  lead,
  children,
  foot,
}: {
  title: string;
  lead?: ReactNode;
  children?: ReactNode;
  /** Links to related pages, below the card. */
  foot?: ReactNode;
}) {
  useTitle(title);
  return (
    <main className="grid min-h-dvh place-items-center bg-panel px-4 py-8">
      <div className="w-full min-w-0 max-w-md">
        <div className="mb-6 flex items-center justify-center gap-2.5 font-semibold text-title tracking-tight">
          <Logo size={30} />
          Tidewatch
        </div>
        <div className="panel p-6">
          <h1 className="font-semibold text-title [overflow-wrap:anywhere]">{title}</h1>
          {lead && <div className="mt-1 text-ink2 [overflow-wrap:anywhere]">{lead}</div>}
          {children && <div className="mt-5">{children}</div>}
        </div>
        {foot && <div className="mt-4 text-center text-ink2">{foot}</div>}
      </div>
    </main>
  );
}

/** A final state of a page, such as a missing object, with links to other pages. */
export function DeadEnd({ title, lead, children }: { title: string; lead: ReactNode; children?: ReactNode }) {
  return (
    <AuthFrame title={title} lead={lead}>
      <div className="flex flex-wrap gap-2">{children}</div>
    </AuthFrame>
  );
}

/** Loading state of a page, hidden for the first 150 ms. */
export function PageLoading({ words }: { words: string }) {
  return (
    <main className="late grid min-h-dvh place-items-center bg-panel px-4" aria-busy="true">
      <h1 className="font-normal text-body text-ink2" role="status">
        {words}
      </h1>
    </main>
  );
}

export function Note({ children }: { children: ReactNode }) {
  return <p className="rounded-control bg-warnsoft px-3 py-2 text-warn">{children}</p>;
}
