// Source lines around the frames of a stack trace: lookup by frame, and their display.

import type { Frame, StackBlock } from "./stack";
import type { FrameSource } from "./types";

type Place = Pick<Frame, "file" | "line" | "column">;

/** Keyed by file, line and column, as printed in the resolved trace. */
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

/** Index of the frame whose source is open initially: the first in-app frame with source, else the first. */
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
  /** True for the line of the frame. */
  isHere: boolean;
  /** The line split around the token at the frame's column. The token is in the middle; empty if there is none. */
  parts: [string, string, string];
}

export function sourceLines({ line, firstLine, lines, mark }: FrameSource): SourceLine[] {
  const indent = Math.min(...lines.filter((text) => text.trim()).map((text) => text.length - text.trimStart().length));
  // The common indentation carries no information and uses width on phones.
  const cut = Number.isFinite(indent) && !lines.some((text) => text.startsWith("…")) ? indent : 0;
  return lines.map((text, i) => {
    const number = firstLine + i;
    const isHere = number === line;
    const shown = text.slice(cut);
    const at = isHere && mark !== null && mark >= cut ? mark - cut : null;
    if (at === null || at >= shown.length) return { number, isHere, parts: [shown, "", ""] };
    // A whole identifier, or one character.
    const pointed = /^(?:[\p{L}\p{N}_$#]+|.)/u.exec(shown.slice(at))?.[0] ?? "";
    return { number, isHere, parts: [shown.slice(0, at), pointed, shown.slice(at + pointed.length)] };
  });
}
