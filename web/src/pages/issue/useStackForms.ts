import { useMissingSymbols, useResolved, useSources } from "../../api/symbols";
import type { FrameSource, IssueGroup, IssueOccurrence } from "../../api/types";
import { rawForm } from "../../model/raw-stack";
import { askFor, type StackForms, sourcesFor, stackForms } from "../../model/stack-forms";

export interface Shown extends StackForms {
  /** Around the frames of the resolved form, once they are here. */
  sources?: FrameSource[];
}

/** Asks the server only for traces that look raw; of plain JavaScript only what traces asked for in vain. */
export function useStackForms(group: IssueGroup, occurrence?: IssueOccurrence): Shown {
  const stored = {
    stack: occurrence?.stackTrace || group.stackTrace,
    raw: occurrence?.rawStackTrace ?? null,
    attributes: occurrence?.attributes ?? {},
  };
  const form = rawForm(stored.stack);
  const answer = useResolved(form?.sure ? askFor(stored, form) : null).data;
  const waiting = useMissingSymbols(form?.sure === false && stored.raw === null).data;
  const forms = stackForms(stored, answer, waiting);
  const sources = useSources(sourcesFor(stored, forms)).data?.frames;
  return { ...forms, sources };
}
