import { useMissingSymbols, useResolved } from "../../api/symbols";
import type { IssueGroup, IssueOccurrence } from "../../api/types";
import { rawForm } from "../../model/raw-stack";
import { askFor, type StackForms, stackForms } from "../../model/stack-forms";

/** Asks the server only for traces that look raw; of plain JavaScript only what traces asked for in vain. */
export function useStackForms(group: IssueGroup, occurrence?: IssueOccurrence): StackForms {
  const stored = {
    stack: occurrence?.stackTrace || group.stackTrace,
    raw: occurrence?.rawStackTrace ?? null,
    attributes: occurrence?.attributes ?? {},
  };
  const form = rawForm(stored.stack);
  const answer = useResolved(form?.sure ? askFor(stored, form) : null).data;
  const waiting = useMissingSymbols(form?.sure === false && stored.raw === null).data;
  return stackForms(stored, answer, waiting);
}
