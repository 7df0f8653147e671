import { useState } from "react";
import { CopyButton } from "../ui/Copy";
import { RevealButton, SecretCode } from "./Secret";

/** A shell command with a copy button. `secret` is a token in it, masked until the user reveals it. */
export function CommandBlock({ label, code, secret }: { label: string; code: string; secret?: string }) {
  const [shown, setShown] = useState(false);
  return (
    <div className="rounded-control border border-line bg-panel">
      <div className="flex items-center justify-between gap-2 pt-1 pr-1 pl-2.5 text-dense text-ink2">
        <span className="min-w-0 flex-1">{label}</span>
        {secret && <RevealButton shown={shown} onToggle={() => setShown(!shown)} what={`the token: ${label}`} />}
        <CopyButton text={code} label={`Copy the command: ${label}`} words="Copy" />
      </div>
      <SecretCode
        code={code}
        secret={secret}
        shown={shown}
        className="overflow-x-auto px-2.5 pb-2.5 font-mono text-dense"
      />
    </div>
  );
}
