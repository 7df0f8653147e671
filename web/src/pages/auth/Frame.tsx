import type { ReactNode } from "react";
import { Logo } from "../../parts/Logo";
import { useTitle } from "../../ui/theme";

/** The card of the pages that need no session. */
export function AuthFrame({ title, lead, children }: { title: string; lead: string; children: ReactNode }) {
  useTitle(title);
  return (
    <main className="grid min-h-dvh place-items-center bg-panel px-4 py-8">
      <div className="w-full max-w-md">
        <div className="mb-6 flex items-center justify-center gap-2.5 font-semibold text-title tracking-tight">
          <Logo size={30} />
          Tidewatch
        </div>
        <div className="panel p-6">
          <h1 className="font-semibold text-title">{title}</h1>
          <p className="mt-1 mb-5 text-ink2">{lead}</p>
          {children}
        </div>
      </div>
    </main>
  );
}

export function FormError({ message }: { message: string | undefined }) {
  return (
    <p role="alert" className={message ? "rounded-control bg-errorsoft px-3 py-2 text-error" : "hidden"}>
      {message}
    </p>
  );
}
