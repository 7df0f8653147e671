import { useMissingSymbols, useResolved, useSources } from "../../api/symbols";
import { rawForm } from "../../model/raw-stack";
import { resolveBody, type StackForms, sourcesFor, stackForms } from "../../model/stack-forms";
import type { FrameSource, IssueGroup, IssueOccurrence } from "../../model/types";

export interface StackFormsWithSources extends StackForms {
  /** Source around the frames of the resolved form; undefined until loaded. */
  sources?: FrameSource[];
}

/** Sends a request only for traces that look raw. For other JavaScript it uses the project's missing source maps. */
export function useStackForms(group: IssueGroup, occurrence?: IssueOccurrence): StackFormsWithSources {
  const stored = {
    stack: occurrence?.stackTrace || group.stackTrace,
    raw: occurrence?.rawStackTrace ?? null,
    attributes: occurrence?.attributes ?? {},
    version: occurrence?.appVersion || null,
  };
  const form = rawForm(stored.stack);
  const answer = useResolved(form?.sure ? resolveBody(stored, form) : null).data;
  const waiting = useMissingSymbols(form?.sure === false && stored.raw === null).data;
  const forms = stackForms(stored, answer, waiting);
  const sources = useSources(sourcesFor(stored, forms)).data?.frames;
  return { ...forms, sources };
}
