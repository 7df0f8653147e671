import { Eye, EyeOff } from "lucide-react";
import { useState } from "react";
import { isHiddenToken } from "../model/project-settings";
import { CopyButton } from "../ui/Copy";

/** A secret: hidden until asked for, copied without showing. */
export function Token({ label, token, hint }: { label: string; token: string; hint?: string }) {
  const [shown, setShown] = useState(false);
  if (isHiddenToken(token))
    return (
      <div>
        <div className="font-medium">{label}</div>
        <p className="mt-1 text-ink2">Hidden from read-only members. Ask an owner or admin of the organisation.</p>
      </div>
    );
  const Icon = shown ? EyeOff : Eye;
  return (
    <div>
      <div className="font-medium">{label}</div>
      <div className="mt-1 flex items-center gap-1">
        <code className="min-w-0 flex-1 truncate rounded-control border border-line bg-panel px-2 py-1 font-mono text-dense">
          {shown ? token : `${token.slice(0, 4)}${"•".repeat(16)}`}
        </code>
        <button
          type="button"
          className="btn btn-ghost btn-icon"
          aria-label={`${shown ? "Hide" : "Show"} the ${label.toLowerCase()}`}
          aria-pressed={shown}
          onClick={() => setShown(!shown)}
        >
          <Icon size={14} aria-hidden className="text-ink2" />
        </button>
        <CopyButton text={token} label={`Copy the ${label.toLowerCase()}`} />
      </div>
      {hint && <p className="mt-1 text-dense text-ink2">{hint}</p>}
    </div>
  );
}
