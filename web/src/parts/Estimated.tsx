// Marks of counts that are estimated from sampled data.
import type { ReactNode } from "react";
import { type Counted, estimateWords } from "../model/estimate";
import { count } from "../model/format";
import { Tip } from "../ui/Tip";

/** A count with "≈" and a tooltip if it is estimated. `children` replace the number. */
export function Estimated({ of, children = count(of.count) }: { of: Counted; children?: ReactNode }) {
  const words = estimateWords([of]);
  if (!words) return children;
  return (
    <Tip text={`${words}: ${count(of.storedCount)} stored.`}>
      <span className="over-row">
        <span aria-hidden>≈ </span>
        {children}
        <span className="sr-only"> ({words.toLowerCase()})</span>
      </span>
    </Tip>
  );
}

/** "≈ Estimated from 1 in 10" as text; nothing unless a count is estimated. */
export function EstimatedNote({ of, className = "" }: { of: readonly Counted[]; className?: string }) {
  const words = estimateWords(of);
  if (!words) return null;
  return (
    <p
      className={`text-caption text-ink2 ${className}`}
      title="Your SDK, your Collector or this project's settings sample."
    >
      ≈ {words}.
    </p>
  );
}
