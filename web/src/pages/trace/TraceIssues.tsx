import { Link } from "@tanstack/react-router";
import { useProjectId } from "../../api/hooks";
import { useWholeOccurrence } from "../../api/whole";
import { brief } from "../../model/format";
import { exactTime } from "../../model/time";
import type { IssueOccurrence, Span } from "../../model/types";
import type { Trace } from "../../model/waterfall";
import { CutNote } from "../../parts/CutNote";
import { OwnerLink } from "../../parts/IssueCells";
import { StackTrace } from "../../parts/StackTrace";
import { Empty } from "../../parts/states";
import { SearchLink } from "../../ui/SearchLink";

/** Exceptions recorded on the spans of this trace. */
export function TraceIssues({ exceptions, trace }: { exceptions: IssueOccurrence[]; trace: Trace<Span> }) {
  const pid = useProjectId();
  if (!exceptions.length)
    return (
      <Empty title="No exceptions in this trace">
        {trace.errors.length > 0
          ? "Some spans have an error status, but none recorded an exception: only exceptions become issues."
          : "No span recorded an exception."}
      </Empty>
    );
  return (
    <ol className="space-y-3 overflow-y-auto p-4">
      {exceptions.map((one) => {
        const index = trace.indexOf.get(one.spanId);
        const span = index === undefined ? undefined : trace.nodes[index].span;
        return (
          <li key={one.id} className="panel p-3">
            <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
              <Link
                to="/p/$pid/issues/$hash"
                params={{ pid, hash: one.exceptionHash }}
                data-row-link
                className="link font-semibold leading-6 [overflow-wrap:anywhere]"
              >
                {one.isMessage ? "Message" : brief(one.exceptionType) || "Exception"}
              </Link>
              <span className="min-w-0 [overflow-wrap:anywhere]" title={one.message}>
                {brief(one.message, 500)}
              </span>
            </div>
            <div className="mt-1 mb-2 flex flex-wrap gap-x-4 text-ink2 leading-6 [&_a]:leading-6">
              <span>{exactTime(one.recordedAt)}</span>
              {span && (
                <SearchLink change={{ tab: undefined, span: one.spanId }} className="link">
                  on span <span className="font-mono text-dense">{brief(span.name)}</span>
                </SearchLink>
              )}
              <OwnerLink type={one.ownerType} name={one.ownerName} />
            </div>
            <WholeStack of={one} />
          </li>
        );
      })}
    </ol>
  );
}

function WholeStack({ of }: { of: IssueOccurrence }) {
  const whole = useWholeOccurrence(of);
  return (
    <>
      <CutNote of={whole} />
      <StackTrace text={whole.row.stackTrace} />
    </>
  );
}
