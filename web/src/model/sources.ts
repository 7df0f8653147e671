// The source around frames of a stack trace: which frame it belongs to, and its lines as they are shown.
import type { FrameSource } from "../api/types";
import type { Frame, StackBlock } from "./stack";

type Place = Pick<Frame, "file" | "line" | "column">;

/** By file, line and column, as the resolved trace prints them. */
export type Sources = ReadonlyMap<string, FrameSource>;

export function indexSources(frames: FrameSource[] = []): Sources {
  return new Map(frames.map((frame) => [placeKey(frame), frame]));
}

export function sourceOf(sources: Sources, frame: Place): FrameSource | undefined {
  return sources.get(placeKey(frame));
}

function placeKey({ file, line, column }: Place): string {
  return `${file}:${line}:${column}`;
}

/** The frame whose source is open from the start: the first of the user's own code that has one, else the first. */
export function openAtFirst(blocks: StackBlock[], sources: Sources): number {
  const first = (fits: (frame: Frame) => boolean) =>
    blocks.find(
      (block) =>
        block.kind === "open" && block.item.kind === "frame" && fits(block.item) && sourceOf(sources, block.item),
    )?.index;
  return first((frame) => frame.inApp) ?? first(() => true) ?? -1;
}

export interface SourceLine {
  number: number;
  /** The frame's own line. */
  isHere: boolean;
  /** The line around its column; what is pointed at is in the middle, and empty where nothing is. */
  parts: [string, string, string];
}

export function sourceLines({ line, firstLine, lines, mark }: FrameSource): SourceLine[] {
  const indent = Math.min(...lines.filter((text) => text.trim()).map((text) => text.length - text.trimStart().length));
  // What all lines are indented by tells nothing, and costs width on a phone.
  const cut = Number.isFinite(indent) && !lines.some((text) => text.startsWith("…")) ? indent : 0;
  return lines.map((text, i) => {
    const number = firstLine + i;
    const isHere = number === line;
    const shown = text.slice(cut);
    const at = isHere && mark !== null && mark >= cut ? mark - cut : null;
    if (at === null || at >= shown.length) return { number, isHere, parts: [shown, "", ""] };
    // A whole name, or one sign.
    const pointed = /^(?:[\p{L}\p{N}_$#]+|.)/u.exec(shown.slice(at))?.[0] ?? "";
    return { number, isHere, parts: [shown.slice(0, at), pointed, shown.slice(at + pointed.length)] };
  });
}
