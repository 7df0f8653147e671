// Secrets are masked until the user reveals them. Copying always yields the real secret.
import { Eye, EyeOff } from "lucide-react";
import type { ClipboardEvent } from "react";
import { masked, maskIn, unmaskIn } from "../model/secret";

/** Reveals a masked secret, or masks it again. `what` completes "Show ...". */
export function RevealButton({
  shown,
  onToggle,
  what,
  words,
}: {
  shown: boolean;
  onToggle: () => void;
  what: string;
  /** Label beside the icon. */
  words?: string;
}) {
  const Icon = shown ? EyeOff : Eye;
  return (
    <button
      type="button"
      className={`btn btn-ghost ${words ? "" : "btn-icon"} shrink-0`}
      aria-label={`${shown ? "Hide" : "Show"} ${what}`}
      aria-pressed={shown}
      onClick={onToggle}
    >
      <Icon size={14} aria-hidden className="text-ink2" />
      {words}
    </button>
  );
}

/** Code that may contain a secret. A copied selection contains the real secret. */
export function SecretCode({
  code,
  secret,
  shown,
  className,
}: {
  code: string;
  secret?: string;
  shown: boolean;
  className: string;
}) {
  return (
    <pre className={className} tabIndex={0} onCopy={(event) => copyReal(event, secret)}>
      {shown ? code : maskIn(code, secret)}
    </pre>
  );
}

/** One secret on a line. */
export function SecretLine({ secret, shown, className }: { secret: string; shown: boolean; className: string }) {
  return (
    <code className={className} onCopy={(event) => copyReal(event, secret)}>
      {shown ? secret : masked(secret)}
    </code>
  );
}

function copyReal(event: ClipboardEvent, secret: string | undefined) {
  const selected = document.getSelection()?.toString() ?? "";
  const real = unmaskIn(selected, secret);
  if (real === selected) return;
  event.clipboardData.setData("text/plain", real);
  event.preventDefault();
}
