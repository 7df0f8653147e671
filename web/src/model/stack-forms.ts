// A stored stack trace, and what the server makes of it now: which form is shown, and what is missing.
import type { MissingSymbols, ResolvedTrace } from "../api/types";
import { imageNames, isSystemImage, type Raw, type RawForm, rawForm, scriptNames } from "./raw-stack";

export interface Stored {
  stack: string;
  /** As it was sent, where symbols changed it. */
  raw: string | null;
  attributes: Record<string, unknown>;
}

export interface StackForms {
  read: string;
  raw: string;
  /** `read` is the work of symbols. */
  isResolved: boolean;
  /** They came after the event. */
  isLate: boolean;
  form: RawForm | null;
  /** What would make more of it readable. */
  missing: MissingSymbols[];
  /** Images of the operating system among what has no symbols. */
  system: string[];
  /** Nothing of it is readable without them. */
  sure: boolean;
}

const LANGUAGE: Record<RawForm, string | null> = {
  ios: "swift",
  dart: "dart",
  native: null,
  java: "android",
  script: "javascript",
};
const BUILD_IDS = ["app.debug.proguard_uuid", "app.debug.build_id"];

/** Body of the request that resolves it again. */
export function askFor({ stack, raw, attributes }: Stored, form: Raw) {
  const id = BUILD_IDS.map((key) => attributes[key]).find((value) => typeof value === "string" && isHex(value));
  return { stackTrace: raw ?? stack, language: LANGUAGE[form.form], debugId: (id as string | undefined) ?? null };
}

function isHex(text: string): boolean {
  return /^[0-9a-f-]{8,64}$/i.test(text);
}

/** Body of the request for the source around its frames; null: no map says anything of it. */
export function sourcesFor(stored: Stored, forms: StackForms) {
  const form = rawForm(forms.raw);
  if (!forms.isResolved || (form && form.form !== "script")) return null;
  return askFor({ ...stored, raw: forms.raw }, form ?? { form: "script", sure: false });
}

/** `answer`: of the server, for a trace that looks raw. `waiting`: what all traces of the project wait for. */
export function stackForms(stored: Stored, answer?: ResolvedTrace, waiting?: MissingSymbols[]): StackForms {
  const form = rawForm(stored.stack);
  const raw = stored.raw ?? stored.stack;
  // Resolved once, it stays as it was stored, unless nothing is missing any more for the frames that are left.
  const isLate =
    !!answer &&
    answer.resolved > 0 &&
    answer.stackTrace !== stored.stack &&
    (stored.raw === null || answer.missing.length === 0);
  const read = isLate ? answer.stackTrace : stored.stack;
  const all = form?.sure ? (answer?.missing ?? []) : asked(stored.stack, form, waiting);
  const images = imageNames(raw);
  const isSystem = (one: MissingSymbols) => isSystemImage(images.get(one.debugId));
  return {
    read,
    raw,
    isResolved: isLate || stored.raw !== null,
    isLate,
    form: form?.form ?? null,
    missing: all.filter((one) => !isSystem(one)),
    system: all.filter(isSystem).map((one) => images.get(one.debugId) ?? ""),
    sure: form?.sure ?? false,
  };
}

/** Of everything that is missing what this trace names. */
function asked(stack: string, form: Raw | null, waiting: MissingSymbols[] | undefined): MissingSymbols[] {
  if (!form || !waiting?.length) return [];
  const names = scriptNames(stack);
  return waiting.filter((one) => one.kind === "source_map" && names.has(one.name));
}
