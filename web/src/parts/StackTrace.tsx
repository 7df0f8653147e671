// A stack trace with the frame to look at first marked, library frames folded, and the raw text one click away.
import { ChevronRight } from "lucide-react";
import { useMemo, useState } from "react";
import { plural } from "../model/format";
import { type Frame, foldStack, parseStack, type StackBlock } from "../model/stack";

export function StackTrace({ text }: { text: string }) {
  const stack = useMemo(() => parseStack(text), [text]);
  const blocks = useMemo(() => foldStack(stack), [stack]);
  // Python prints the error last, everybody else first.
  const errorLine = text.trimStart().startsWith("Traceback") ? stack.items.length - 1 : 0;
  return (
    <ol className="overflow-x-auto font-mono text-dense" aria-label="Stack trace">
      {blocks.map((block) => (
        <Block
          key={block.index}
          block={block}
          culprit={block.index === stack.culprit}
          error={block.index === errorLine}
        />
      ))}
    </ol>
  );
}

function Block({ block, culprit, error }: { block: StackBlock; culprit: boolean; error: boolean }) {
  if (block.kind === "folded") return <Folded frames={block.frames} />;
  const { item } = block;
  if (item.kind === "text")
    return (
      <li
        className={`whitespace-pre-wrap py-0.5 [overflow-wrap:anywhere] ${item.heading ? "mt-2 font-semibold" : error ? "font-semibold text-error" : "text-ink2"}`}
      >
        {item.text}
      </li>
    );
  return <FrameLine frame={item} culprit={culprit} />;
}

function FrameLine({ frame, culprit }: { frame: Frame; culprit?: boolean }) {
  return (
    <li
      className={`border-l-2 py-1 pl-3 ${culprit ? "border-error bg-errorsoft" : frame.inApp ? "border-accent" : "border-line text-ink2"}`}
    >
      <div className="flex flex-wrap items-baseline gap-x-2">
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
    </li>
  );
}

function Folded({ frames }: { frames: Frame[] }) {
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
            <FrameLine key={i} frame={frame} />
          ))}
        </ol>
      )}
    </li>
  );
}
