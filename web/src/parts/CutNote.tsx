import type { Whole } from "../api/whole";

/** Says that values are only the beginning, while the whole row is loaded or when it cannot be. */
export function CutNote({ of }: { of: Whole<unknown> }) {
  if (of.state === "whole") return null;
  return (
    <p role="status" className="text-ink2">
      {of.state === "loading"
        ? "Long values are being loaded: this is their beginning."
        : "Long values could not be loaded: this is their beginning."}
    </p>
  );
}
