// Combines a stored stack trace with its current resolution: the displayed form, and the missing symbols.

import { imageNames, isSystemImage, type Raw, type RawForm, rawForm, scriptNames } from "./raw-stack";
import type { MissingSymbols, ResolvedTrace } from "./types";

export interface StoredTrace {
  stack: string;
  /** The trace as sent; null if it was not resolved on arrival. */
  raw: string | null;
  attributes: Record<string, unknown>;
  /** Version of the app; null when unknown. */
  version: string | null;
}

export interface StackForms {
  read: string;
  raw: string;
  /** Whether `read` was resolved with symbols. */
  isResolved: boolean;
  /** Whether the symbols were uploaded after the event. */
  isLate: boolean;
  form: RawForm | null;
  /** Symbols that would resolve more frames. */
  missing: MissingSymbols[];
  /** Images of the operating system without symbols. */
  system: string[];
  /** Whether the trace is certainly raw. */
  sure: boolean;
}

const LANGUAGE: Record<RawForm, string | null> = {
  ios: "swift",
  dart: "dart",
  native: null,
  java: "android",
  script: "javascript",
};
/** Attributes that name the distribution, as the server reads them. */
const DISTS = ["app.debug.dist", "app.build_id", "dist"];
const BUILD_IDS = ["app.debug.proguard_uuid", "app.debug.build_id"];

/** Body of the request that resolves the trace again. */
export function resolveBody({ stack, raw, attributes, version }: StoredTrace, form: Raw) {
  const strings = (keys: string[]) => keys.map((key) => attributes[key]).filter((value) => typeof value === "string");
  return {
    stackTrace: raw ?? stack,
    language: LANGUAGE[form.form],
    debugId: strings(BUILD_IDS).find(isHex) ?? null,
    version,
    dist: strings(DISTS)[0] ?? null,
  };
}

function isHex(text: string): boolean {
  return /^[0-9a-f-]{8,64}$/i.test(text);
}

/** Body of the request for the source around the frames; null if source maps do not apply. */
export function sourcesFor(stored: StoredTrace, forms: StackForms) {
  const form = rawForm(forms.raw);
  if (!forms.isResolved || (form && form.form !== "script")) return null;
  return resolveBody({ ...stored, raw: forms.raw }, form ?? { form: "script", sure: false });
}

/** `answer` is the resolution of a trace that looks raw; `waiting` are the missing symbols of the project. */
export function stackForms(stored: StoredTrace, answer?: ResolvedTrace, waiting?: MissingSymbols[]): StackForms {
  const form = rawForm(stored.stack);
  const raw = stored.raw ?? stored.stack;
  // A trace that was resolved on arrival is shown as stored, unless all symbols of its other frames are now present.
  const isLate =
    !!answer &&
    answer.resolved > 0 &&
    answer.stackTrace !== stored.stack &&
    (stored.raw === null || answer.missing.length === 0);
  const read = isLate ? answer.stackTrace : stored.stack;
  const all = form?.sure ? (answer?.missing ?? []) : missingSourceMaps(stored, form, waiting);
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

/** The project's missing source maps of the release whose scripts the trace names. */
function missingSourceMaps(
  { stack, version }: StoredTrace,
  form: Raw | null,
  waiting: MissingSymbols[] | undefined,
): MissingSymbols[] {
  if (!form || !waiting?.length) return [];
  const names = scriptNames(stack);
  const isOfRelease = (one: MissingSymbols) => one.version === null || one.version === version;
  return waiting.filter((one) => one.kind === "source_map" && names.has(one.name) && isOfRelease(one));
}
