import type { ReactNode } from "react";
import { CopyButton } from "../ui/Copy";

/** Shows a new secret in full. It cannot be shown again. */
export function OnceSecret({
  title,
  label,
  secret,
  onDone,
  children,
}: {
  title: string;
  label: string;
  secret: string;
  onDone: () => void;
  children?: ReactNode;
}) {
  return (
    <section aria-label={title} className="rounded-control bg-oksoft p-3">
      <p role="status" className="font-medium text-ok">
        {title}. Copy it now: it is not shown again.
      </p>
      <div className="mt-2 flex items-center gap-2">
        <code
          data-secret
          className="min-w-0 flex-1 rounded-control border border-line bg-bg px-2 py-1 font-mono text-dense [overflow-wrap:anywhere]"
        >
          {secret}
        </code>
        <CopyButton text={secret} label={`Copy: ${label.toLowerCase()}`} words="Copy" ghost={false} />
      </div>
      <div className="mt-2 flex flex-wrap items-center justify-between gap-2">
        <p className="min-w-0 text-dense text-ink2">{children}</p>
        <button type="button" className="btn" onClick={onDone}>
          I have it
        </button>
      </div>
    </section>
  );
}
