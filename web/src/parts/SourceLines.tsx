// Source lines around a frame. The frame's line and the token at its column are marked by more than colour.

import { sourceLines } from "../model/sources";
import type { FrameSource } from "../model/types";

export function SourceLines({ source, id }: { source: FrameSource; id: string }) {
  const lines = sourceLines(source);
  const last = lines.at(-1)?.number ?? source.line;
  return (
    <section
      id={id}
      aria-label={`Source of ${source.file}, lines ${source.firstLine} to ${last}`}
      // Long lines scroll, also by keyboard.
      tabIndex={0}
      className="mt-1 mb-1 max-w-full overflow-x-auto rounded-control border border-line bg-bg py-1 text-ink"
    >
      <ol className="w-max min-w-full [tab-size:2]">
        {lines.map(({ number, isHere, parts: [before, pointed, after] }) => (
          <li
            key={number}
            aria-current={isHere || undefined}
            className={`flex whitespace-pre ${isHere ? "bg-errorsoft font-semibold" : ""}`}
          >
            <span aria-hidden className="w-4 shrink-0 select-none text-center text-error">
              {isHere && "›"}
            </span>
            <span className="mr-3 min-w-[3ch] shrink-0 select-none text-right text-ink2">{number}</span>
            <code className="pr-3">
              {before}
              {pointed && (
                <mark className="bg-transparent text-inherit underline decoration-2 decoration-error underline-offset-2">
                  {pointed}
                </mark>
              )}
              {after}
            </code>
          </li>
        ))}
      </ol>
    </section>
  );
}
