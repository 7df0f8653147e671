// By what the issue is grouped, and what was left out.
import { brief } from "../../model/format";
import type { IssueGrouping } from "../../model/types";
import { Hashes } from "./Hashes";

const SHOWN_CHARS = 200;

export function Grouping({ grouping }: { grouping: IssueGrouping }) {
  const joined = grouping.hashes.filter((hash) => hash.cause === "rule");
  return (
    <section aria-label="Grouping" className="panel p-3">
      <h2 className="mb-1 font-semibold">Grouped by</h2>
      <p className="[overflow-wrap:anywhere]">{grouping.basis}</p>
      <details className="mt-1">
        <summary className="cursor-pointer text-ink2">What counts</summary>
        <ol className="mt-1 space-y-0.5 font-mono text-dense" aria-label="Parts that count">
          {grouping.components.map((part, index) => (
            <li key={index} title={part} className="[overflow-wrap:anywhere]">
              {brief(part, SHOWN_CHARS)}
            </li>
          ))}
        </ol>
        {grouping.leftOut.length > 0 && (
          <>
            <h3 className="mt-2 text-ink2">Left out</h3>
            <ul className="space-y-0.5 font-mono text-dense text-ink2" aria-label="Parts that were left out">
              {grouping.leftOut.map((part, index) => (
                <li key={index} title={part} className="[overflow-wrap:anywhere]">
                  {brief(part, SHOWN_CHARS)}
                </li>
              ))}
            </ul>
          </>
        )}
        <p className="mt-2 text-ink2">Grouping rule {grouping.version}</p>
        {joined.length > 0 && (
          <Hashes hashes={joined.map((hash) => hash.exceptionHash)} label="Joined by the grouping rule" />
        )}
      </details>
    </section>
  );
}
