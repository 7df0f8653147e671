import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import { ErrorState } from "./states";

export function Crash({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  return (
    <main className="mx-auto max-w-2xl p-6">
      <h1 className="mb-2 font-semibold text-title">This page could not be shown</h1>
      <ErrorState
        error={error}
        retry={() => {
          reset();
          router.invalidate();
        }}
      />
    </main>
  );
}

export function NotFound() {
  return (
    <main className="mx-auto max-w-md p-8">
      <h1 className="font-semibold text-title">No page at this address</h1>
      <p className="mt-2 text-ink2">The link may be old, or mistyped.</p>
      <Link to="/" className="btn btn-primary mt-4">
        To the overview
      </Link>
    </main>
  );
}
