// A stack trace with the culprit frame marked, library frames folded, and the source around frames if it is available.
import { ChevronRight, ExternalLink } from "lucide-react";
import { useId, useMemo, useState } from "react";
import { plural } from "../model/format";
import { indexSources, openAtFirst, type Sources, sourceOf } from "../model/sources";
import { type Frame, foldStack, matches, parseStack, type StackBlock } from "../model/stack";
import type { FrameSource } from "../model/types";
import { SourceLines } from "./SourceLines";

interface Props {
  text: string;
  sources?: FrameSource[];
  /** The address of a frame's line at the code host; null without one. */
  link?: (frame: Frame) => string | null;
  /** Lines with this string are marked, and folded ones shown. */
  find?: string;
}

export function StackTrace({ text, sources, link, find = "" }: Props) {
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
            link={link}
            find={find}
            open={block.index === open}
            culprit={block.index === stack.culprit}
            error={block.index === errorLine}
          />
        ))}
      </ol>
    </div>
  );
}

interface BlockProps extends Pick<Props, "link" | "find"> {
  block: StackBlock;
  sources: Sources;
  /** Whether its source is shown initially. */
  open: boolean;
  culprit: boolean;
  error: boolean;
}

const MARKED = "outline outline-2 outline-(--accent) -outline-offset-2";

function Block({ block, sources, link, find = "", open, culprit, error }: BlockProps) {
  if (block.kind === "folded") return <Folded frames={block.frames} sources={sources} link={link} find={find} />;
  const { item } = block;
  if (item.kind === "text")
    return (
      <li
        className={`whitespace-pre-wrap py-0.5 [overflow-wrap:anywhere] ${matches(item, find) ? MARKED : ""} ${item.heading ? "mt-2 font-semibold" : error ? "font-semibold text-error" : "text-ink2"}`}
      >
        {item.text}
      </li>
    );
  const source = sourceOf(sources, item);
  return <FrameLine frame={item} culprit={culprit} source={source} link={link} find={find} openAtFirst={open} />;
}

interface FrameProps extends Pick<Props, "link" | "find"> {
  frame: Frame;
  culprit?: boolean;
  source?: FrameSource;
  openAtFirst?: boolean;
}

function FrameLine({ frame, culprit, source, link, find = "", openAtFirst = false }: FrameProps) {
  const id = useId();
  const address = link?.(frame);
  // Null until the user chooses, because sources load after the trace.
  const [chosen, choose] = useState<boolean | null>(null);
  const open = chosen ?? openAtFirst;
  return (
    <li
      className={`border-l-2 py-1 pl-3 ${matches(frame, find) ? MARKED : ""} ${culprit ? "border-error bg-errorsoft" : frame.inApp ? "border-accent" : "border-line text-ink2"}`}
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
        <span className={`min-w-0 [overflow-wrap:anywhere] ${frame.inApp ? "font-semibold" : ""}`}>
          {frame.fn || "(anonymous)"}
        </span>
        <span className="text-ink2 [overflow-wrap:anywhere]">
          {frame.file}
          {frame.line !== null && (
            <>
              :<span className={frame.inApp ? "font-semibold text-ink" : ""}>{frame.line}</span>
            </>
          )}
          {frame.column !== null && `:${frame.column}`}
        </span>
        {address && (
          <a
            href={address}
            target="_blank"
            rel="noopener noreferrer"
            className="link font-sans"
            aria-label={`Source of ${frame.fn || "(anonymous)"} at the code host`}
          >
            <ExternalLink size={12} aria-hidden className="inline" />
          </a>
        )}
        {culprit && <span className="chip border border-error bg-bg! font-sans text-error!">look here first</span>}
      </div>
      {frame.source && <div className="whitespace-pre-wrap pt-0.5 pl-4">{frame.source}</div>}
      {source && open && <SourceLines source={source} id={id} />}
    </li>
  );
}

function Folded({
  frames,
  sources,
  link,
  find = "",
}: { frames: Frame[]; sources: Sources } & Pick<Props, "link" | "find">) {
  const [chosen, setOpen] = useState(false);
  const open = chosen || frames.some((frame) => matches(frame, find));
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
            <FrameLine key={i} frame={frame} source={sourceOf(sources, frame)} link={link} find={find} />
          ))}
        </ol>
      )}
    </li>
  );
}
