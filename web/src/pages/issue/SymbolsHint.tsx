import { Link } from "@tanstack/react-router";
import { Puzzle } from "lucide-react";
import { useProjectId } from "../../api/hooks";
import type { StackForms } from "../../model/stack-forms";
import { MissingList, TokenNote } from "../../parts/MissingSymbols";

/** Lists the uploads that would resolve the trace, with their commands. */
export function SymbolsHint({ forms }: { forms: StackForms }) {
  const pid = useProjectId();
  const { missing, system, sure, isResolved } = forms;
  return (
    <aside
      aria-label="Missing symbols"
      className={`mb-3 space-y-2 rounded-control px-3 py-2.5 ${sure ? "bg-warnsoft" : "bg-panel"}`}
    >
      <p className="flex items-start gap-2">
        <Puzzle size={16} aria-hidden className={`mt-0.5 shrink-0 ${sure ? "text-warn" : "text-ink2"}`} />
        <span>
          <span className="font-medium">{headline(sure, isResolved)}</span>{" "}
          <span className="text-ink2">
            Once they are uploaded, this event and recent ones are resolved, and grouped by what they mean.
          </span>
        </span>
      </p>
      <MissingList missing={missing} text={forms.raw} form={forms.form ?? undefined} />
      {system.length > 0 && (
        <p className="text-dense text-ink2 [overflow-wrap:anywhere]">
          Frames of the operating system stay as they are: {system.slice(0, 6).join(", ")}
          {system.length > 6 && " and more"}.
        </p>
      )}
      <div className="flex flex-wrap gap-x-4 gap-y-1">
        <TokenNote />
        <Link to="/p/$pid/settings/symbols" params={{ pid }} className="link text-dense">
          All symbols of the project
        </Link>
      </div>
    </aside>
  );
}

function headline(sure: boolean, isResolved: boolean): string {
  if (isResolved) return "Some frames wait for symbols.";
  return sure
    ? "This stack trace waits for symbols."
    : "If this code was compiled or bundled, its source map is missing.";
}
