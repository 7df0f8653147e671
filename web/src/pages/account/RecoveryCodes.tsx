import { Download } from "lucide-react";
import { useState } from "react";
import { saveAs } from "../../api/client";
import { CopyButton } from "../../ui/Copy";
import { Switch } from "../../ui/Switch";

/** New recovery codes. They are shown once: the server cannot return them again. */
export function RecoveryCodes({ codes, onKept }: { codes: string[]; onKept: () => void }) {
  const [kept, setKept] = useState(false);
  const text = `${codes.join("\n")}\n`;
  return (
    <div className="space-y-4">
      <p className="text-ink2">
        Each opens your account once when app and passkeys are not at hand. They are shown only now: print them, or put
        them into a password manager.
      </p>
      <ul
        aria-label="Recovery codes"
        className="grid grid-cols-2 gap-x-4 gap-y-1 rounded-control border border-line bg-panel p-3 font-mono text-dense"
      >
        {codes.map((code) => (
          <li key={code} className="whitespace-nowrap">
            {code}
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap gap-2">
        <CopyButton text={text} label="Copy the recovery codes" words="Copy" ghost={false} />
        <button
          type="button"
          className="btn"
          onClick={() =>
            saveAs(URL.createObjectURL(new Blob([text], { type: "text/plain" })), "tidewatch-recovery-codes.txt")
          }
        >
          <Download size={14} aria-hidden className="text-ink2" /> Download
        </button>
      </div>
      <Switch label="I have kept them in a safe place" checked={kept} onChange={setKept} />
      <button type="button" className="btn btn-primary btn-big w-full" disabled={!kept} onClick={onKept}>
        Done
      </button>
    </div>
  );
}
