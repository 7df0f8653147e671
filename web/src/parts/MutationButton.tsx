// Buttons that run a mutation, and the display of its error. After a 429 they are disabled and count down.
import { CircleAlert } from "lucide-react";
import type { ButtonHTMLAttributes, ReactNode } from "react";
import { ApiError } from "../api/client";
import { durationRound } from "../model/format";
import { problemWords } from "../model/problem";
import { useWait } from "./useWait";

/** The state of a mutation, as TanStack Query reports it. */
export interface MutationState {
  isPending: boolean;
  error: Error | null;
}

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  of: MutationState;
  /** Replaces the label while the mutation runs. */
  busy?: string;
  children: ReactNode;
}

export function MutationButton({ of, busy, disabled, className = "btn", children, ...button }: Props) {
  const wait = useWait(of.error);
  return (
    <button type="button" {...button} className={className} disabled={disabled || of.isPending || wait > 0}>
      {wait > 0 ? `Wait ${durationRound(wait * 1000)}` : of.isPending && busy ? busy : children}
    </button>
  );
}

/** The submit button of a form. */
export function Submit(props: Props) {
  return <MutationButton className="btn btn-primary" {...props} type="submit" />;
}

/** Shows the error of a mutation, nothing without one. `own` has the page's messages by status. */
export function Problem({ of, own }: { of: Pick<MutationState, "error">; own?: Record<number, string> }) {
  const wait = useWait(of.error);
  const status = of.error instanceof ApiError ? of.error.status : 0;
  if (!of.error) return null;
  return (
    <div role="alert" className="flex items-start gap-2 rounded-control bg-errorsoft px-3 py-2 text-error">
      <CircleAlert size={16} aria-hidden className="mt-0.5 shrink-0" />
      <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        {problemWords({ status, message: of.error.message }, own)}
        {status === 429 && (
          <span className="block" aria-hidden>
            {wait > 0 ? `${durationRound(wait * 1000)} left.` : "Now."}
          </span>
        )}
      </p>
    </div>
  );
}
