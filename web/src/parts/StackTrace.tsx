// A stack trace with the culprit frame marked, library frames folded, and the source around frames if it is available.
import { ChevronRight } from "lucide-react";
import { useId, useMemo, useState } from "react";
import type { FrameSource } from "../api/types";
import { plural } from "../model/format";
import { indexSources, openAtFirst, type Sources, sourceOf } from "../model/sources";
import { type Frame, foldStack, parseStack, type StackBlock } from "../model/stack";
import { SourceLines } from "./SourceLines";

export function StackTrace({ text, sources }: { text: string; sources?: FrameSource[] }) {
  const stack = useMemo(() => parseStack(text), [text]);
  const blocks = useMemo(() => foldStack(stack), [stack]);
  const known = useMemo(() => indexSources(sources), [sources]);
  const open = useMemo(() => openAtFirst(blocks, known), [blocks, known]);
  // Python prints the error last, other languages first.
  const errorLine = text.trimStart().startsWith("Traceback") ? stack.items.length - 1 : 0;
  return (
    // Deliberate: a scroll container must be reachable by keyboard
    <div className="overflow-x-auto" tabIndex={0} role="group" aria-label="Stack trace, scrolls sideways">
      <ol className="font-mono text-dense" aria-label="Stack trace">
        {blocks.map((block) => (
          <Block
            key={block.index}
            block={block}
            sources={known}
            open={block.index === open}
            culprit={block.index === stack.culprit}
            error={block.index === errorLine}
          />
        ))}
      </ol>
    </div>
  );
}

interface BlockProps {
  block: StackBlock;
  sources: Sources;
  /** Whether its source is shown initially. */
  open: boolean;
  culprit: boolean;
  error: boolean;
}

function Block({ block, sources, open, culprit, error }: BlockProps) {
  if (block.kind === "folded") return <Folded frames={block.frames} sources={sources} />;
  const { item } = block;
  if (item.kind === "text")
    return (
      <li
        className={`whitespace-pre-wrap py-0.5 [overflow-wrap:anywhere] ${item.heading ? "mt-2 font-semibold" : error ? "font-semibold text-error" : "text-ink2"}`}
      >
        {item.text}
      </li>
    );
  return <FrameLine frame={item} culprit={culprit} source={sourceOf(sources, item)} openAtFirst={open} />;
}

interface FrameProps {
  frame: Frame;
  culprit?: boolean;
  source?: FrameSource;
  openAtFirst?: boolean;
}

function FrameLine({ frame, culprit, source, openAtFirst = false }: FrameProps) {
  const id = useId();
  // Null until the user chooses, because sources load after the trace.
  const [chosen, choose] = useState<boolean | null>(null);
  const open = chosen ?? openAtFirst;
  return (
    <li
      className={`border-l-2 py-1 pl-3 ${culprit ? "border-error bg-errorsoft" : frame.inApp ? "border-accent" : "border-line text-ink2"}`}
    >
      <div className="flex flex-wrap items-baseline gap-x-2">
        {source && (
          <button
            type="button"
            aria-expanded={open}
            aria-controls={open ? id : undefined}
            aria-label={`Source around ${frame.fn || "(anonymous)"}, line ${frame.line}`}
            onClick={() => choose(!open)}
            className="-my-1 -ml-1 flex size-6 shrink-0 items-center justify-center self-center rounded-control text-ink2 hover:bg-hover hover:text-ink"
          >
            <ChevronRight size={13} aria-hidden className={`transition-transform ${open ? "rotate-90" : ""}`} />
          </button>
        )}
        <span className={frame.inApp ? "font-semibold" : ""}>{frame.fn || "(anonymous)"}</span>
        <span className="text-ink2 [overflow-wrap:anywhere]">
          {frame.file}
          {frame.line !== null && (
            <>
              :<span className={frame.inApp ? "font-semibold text-ink" : ""}>{frame.line}</span>
            </>
          )}
          {frame.column !== null && `:${frame.column}`}
        </span>
        {culprit && <span className="chip border border-error bg-bg! font-sans text-error!">look here first</span>}
      </div>
      {frame.source && <div className="whitespace-pre-wrap pt-0.5 pl-4">{frame.source}</div>}
      {source && open && <SourceLines source={source} id={id} />}
    </li>
  );
}

function Folded({ frames, sources }: { frames: Frame[]; sources: Sources }) {
  const [open, setOpen] = useState(false);
  return (
    <li>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex min-h-6 w-full items-center gap-1 border-line border-l-2 py-0.5 pl-2 text-left font-sans text-ink2 hover:bg-hover hover:text-ink"
      >
        <ChevronRight size={13} aria-hidden className={`transition-transform ${open ? "rotate-90" : ""}`} />
        {plural(frames.length, "library frame")}
      </button>
      {open && (
        <ol>
          {frames.map((frame, i) => (
            <FrameLine key={i} frame={frame} source={sourceOf(sources, frame)} />
          ))}
        </ol>
      )}
    </li>
  );
}
