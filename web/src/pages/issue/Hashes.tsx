// Hashes that belong to an issue; each can be separated from it.
import { Split } from "lucide-react";
import { useMayWrite } from "../../api/account";
import { useUnmerge } from "../../api/issues";

/** `label` names the list for screen readers where no heading does. */
export function Hashes({ hashes, label }: { hashes: string[]; label?: string }) {
  const unmerge = useUnmerge();
  const mayChange = useMayWrite();
  return (
    <ul className="mt-1 space-y-1" aria-label={label}>
      {hashes.map((hash) => (
        <li key={hash} className="flex items-center justify-between gap-2">
          <span className="font-mono text-dense">{hash}</span>
          {mayChange && (
            <button
              type="button"
              className="btn"
              aria-label={`Separate ${hash}`}
              onClick={() => unmerge.mutate([hash])}
            >
              <Split size={14} aria-hidden /> Separate
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
