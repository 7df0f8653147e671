import { Link } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { useTitle } from "../ui/theme";
import { Logo } from "./Logo";

/** The not-found page inside the frame of a project or of an account. */
export function NotFound() {
  useTitle("Page not found");
  return (
    <div className="mx-auto flex max-w-md flex-col items-center px-6 py-16 text-center">
      <Compass size={28} aria-hidden className="text-ink2" />
      <p className="mt-3 font-mono text-dense text-ink2">404</p>
      <h1 tabIndex={-1} className="font-semibold text-title">
        No page at this address
      </h1>
      <p className="mt-1 text-ink2 [overflow-wrap:anywhere]">
        <span className="font-mono text-dense">{location.pathname}</span> may be an old link, or mistyped.
      </p>
      <Link to="/" className="btn btn-primary mt-4">
        To the overview
      </Link>
    </div>
  );
}

/** The not-found page without a frame. */
export function NotFoundPage() {
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="flex h-11 items-center border-line border-b px-3">
        <Link to="/" className="flex h-8 items-center gap-2 rounded-control px-1 font-semibold" aria-label="Tidewatch">
          <Logo size={22} />
          <span className="tracking-tight">Tidewatch</span>
        </Link>
      </header>
      <main id="main" className="flex-1">
        <NotFound />
      </main>
    </div>
  );
}
