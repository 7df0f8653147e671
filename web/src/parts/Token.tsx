import { useState } from "react";
import { isHiddenToken } from "../model/project-settings";
import { CopyButton } from "../ui/Copy";
import { RevealButton, SecretLine } from "./Secret";

/** A token on a separate line. */
export function Token({ label, token, hint }: { label: string; token: string; hint?: string }) {
  const [shown, setShown] = useState(false);
  if (isHiddenToken(token))
    return (
      <div>
        <div className="font-medium">{label}</div>
        <p className="mt-1 text-ink2">Hidden from read-only members. Ask an owner or admin of the organization.</p>
      </div>
    );
  return (
    <div>
      <div className="font-medium">{label}</div>
      <div className="mt-1 flex items-center gap-1">
        <SecretLine
          secret={token}
          shown={shown}
          className="min-w-0 flex-1 truncate rounded-control border border-line bg-panel px-2 py-1 font-mono text-dense"
        />
        <RevealButton shown={shown} onToggle={() => setShown(!shown)} what={`the ${label.toLowerCase()}`} />
        <CopyButton text={token} label={`Copy the ${label.toLowerCase()}`} />
      </div>
      {hint && <p className="mt-1 text-dense text-ink2">{hint}</p>}
    </div>
  );
}
