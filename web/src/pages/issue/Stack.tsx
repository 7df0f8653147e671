// The stack trace of an event, resolved or raw, and its missing symbols.
import { getRouteApi } from "@tanstack/react-router";
import { Puzzle } from "lucide-react";
import { lazy, Suspense } from "react";
import type { IssueGroup, IssueOccurrence } from "../../api/types";
import { usePatchSearch } from "../../parts/listSearch";
import { Section } from "../../parts/Page";
import { StackTrace } from "../../parts/StackTrace";
import { CopyButton } from "../../ui/Copy";
import { Segmented } from "../../ui/Segmented";
import { useStackForms } from "./useStackForms";

const route = getRouteApi("/p/$pid/issues/$hash");
// Loaded lazily: most issues have no missing symbols.
const Hint = lazy(() => import("./SymbolsHint").then((module) => ({ default: module.SymbolsHint })));

export function Stack({ group, occurrence }: { group: IssueGroup; occurrence?: IssueOccurrence }) {
  const { raw } = route.useSearch();
  const patch = usePatchSearch();
  const forms = useStackForms(group, occurrence);
  const shown = raw ? forms.raw : forms.read;
  return (
    <Section
      title="Stack trace"
      actions={
        <span className="flex items-center gap-1">
          <Segmented
            label="Form of the stack trace"
            value={raw ? "raw" : "read"}
            options={[
              { value: "read", label: forms.isResolved ? "Resolved" : "Readable" },
              { value: "raw", label: "Raw" },
            ]}
            onChange={(value) => patch({ raw: value === "raw" || undefined }, true)}
          />
          <CopyButton text={shown} label="Copy the stack trace" />
        </span>
      }
    >
      {forms.missing.length > 0 && (
        <Suspense>
          <Hint forms={forms} />
        </Suspense>
      )}
      {forms.isLate && !raw && (
        <p className="mb-2 flex items-start gap-2 text-ink2">
          <Puzzle size={14} aria-hidden className="mt-[3px] shrink-0" />
          Resolved just now, with symbols that were uploaded after the event.
        </p>
      )}
      {raw ? (
        <pre className="overflow-x-auto font-mono text-dense" tabIndex={0}>
          {shown}
        </pre>
      ) : (
        <StackTrace text={shown} sources={forms.sources} />
      )}
    </Section>
  );
}
