import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
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
