import { CircleCheck } from "lucide-react";
import { useMissingSymbols } from "../../api/symbols";
import { MissingList, TokenNote } from "../../parts/MissingSymbols";
import { Section } from "../../parts/Page";
import { QueryView, SkeletonRows } from "../../parts/states";

/** Symbols that stack traces need and that are not uploaded. */
export function MissingUploads() {
  const missing = useMissingSymbols();
  return (
    <Section title="Missing">
      <QueryView query={missing} skeleton={<SkeletonRows rows={2} />}>
        {(list) =>
          list.length ? (
            <div className="space-y-2">
              <p className="text-ink2">
                Stack traces asked for these. Once uploaded, new traces are resolved with them, and those of the last
                seven days again.
              </p>
              <MissingList missing={list} />
              <TokenNote />
            </div>
          ) : (
            <p className="flex items-start gap-2 text-ink2">
              <CircleCheck size={16} aria-hidden className="mt-0.5 shrink-0 text-ok" />
              No stack trace has asked for a file that is not here.
            </p>
          )
        }
      </QueryView>
    </Section>
  );
}
