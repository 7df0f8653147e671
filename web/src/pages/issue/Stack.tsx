// The stack trace of an event, resolved or raw, and its missing symbols.
import { getRouteApi } from "@tanstack/react-router";
import { Puzzle } from "lucide-react";
import { lazy, Suspense, useMemo, useState } from "react";
import { useProject } from "../../api/account";
import { plural } from "../../model/format";
import { issueMarkdown } from "../../model/issue-markdown";
import { sourceLink } from "../../model/source-link";
import { matches, parseStack } from "../../model/stack";
import type { IssueDetail } from "../../model/types";
import { usePatchSearch } from "../../parts/listSearch";
import { Section } from "../../parts/Page";
import { StackTrace } from "../../parts/StackTrace";
import { CopyButton } from "../../ui/Copy";
import { Segmented } from "../../ui/Segmented";
import { useStackForms } from "./useStackForms";

const route = getRouteApi("/p/$pid/issues/$hash");
// Loaded lazily: most issues have no missing symbols.
const Hint = lazy(() => import("./SymbolsHint").then((module) => ({ default: module.SymbolsHint })));

export function Stack({ detail }: { detail: IssueDetail }) {
  const { group, commit } = detail;
  const occurrence = detail.occurrences[0];
  const settings = useProject()?.settings;
  const host = { template: settings?.sourceUrl ?? "", root: settings?.sourceRoot ?? "", commit };
  const [find, setFind] = useState("");
  const { raw } = route.useSearch();
  const patch = usePatchSearch();
  const forms = useStackForms(group, occurrence);
  const shown = raw ? forms.raw : forms.read;
  const items = useMemo(() => parseStack(shown).items, [shown]);
  const found = items.filter((item) => matches(item, find)).length;
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
          <CopyButton
            text={issueMarkdown(detail, shown, issueAddress(window.location))}
            label="Copy the issue as Markdown"
            words="Markdown"
          />
        </span>
      }
    >
      {!raw && items.length > 5 && (
        <div className="mb-2 flex items-center gap-2">
          <label className="min-w-0 max-w-64 flex-1">
            <span className="sr-only">Find in the stack trace</span>
            <input
              type="search"
              className="input"
              placeholder="Find in the stack trace"
              value={find}
              onChange={(event) => setFind(event.target.value)}
            />
          </label>
          <span className="text-dense text-ink2" role="status">
            {find.trim() && plural(found, "line")}
          </span>
        </div>
      )}
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
        <StackTrace text={shown} sources={forms.sources} link={(frame) => sourceLink(host, frame)} find={find} />
      )}
    </Section>
  );
}

/** The address of the page without the shown event. */
function issueAddress(location: Location): string {
  return `${location.origin}${location.pathname}`;
}
