import { Check, Copy as CopyIcon } from "lucide-react";
import { useEffect, useState } from "react";

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Plain http on a remote host has no clipboard API; `execCommand` works there.
    const area = document.createElement("textarea");
    area.value = text;
    area.setAttribute("aria-hidden", "true");
    area.className = "fixed opacity-0";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** Copies `text` and shows a short confirmation, also to screen readers. */
export function CopyButton({
  text,
  label,
  words,
  ghost = true,
}: {
  text: string;
  label: string;
  words?: string;
  ghost?: boolean;
}) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1600);
    return () => clearTimeout(timer);
  }, [done]);
  const Icon = done ? Check : CopyIcon;
  return (
    <button
      type="button"
      className={`btn ${ghost ? "btn-ghost" : ""} ${words ? "" : "btn-icon h-6! w-6!"} shrink-0`}
      aria-label={done ? "Copied" : label}
      onClick={async () => setDone(await copyText(text))}
    >
      <Icon size={14} aria-hidden className={done ? "text-ok" : "text-ink2"} />
      {words && (done ? "Copied" : words)}
      <span role="status" className="sr-only">
        {done ? "Copied" : ""}
      </span>
    </button>
  );
}
