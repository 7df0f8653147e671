// Rows of one tab beside the player: a row moves the player to its moment; the row of the current moment is marked, and
// scrolled into view while the recording plays.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useMemo, useRef } from "react";
import { clock, lastBefore } from "../../model/replay/timeline";
import { type Replay, useReplay } from "./replay";

const ROW = 30;

interface Props<Row> {
  label: string;
  replay: Replay;
  rows: readonly Row[];
  /** Milliseconds after the start of the session, ascending. */
  at: (row: Row) => number;
  /** Content of a row after its time, inside the button. */
  children: (row: Row) => ReactNode;
  /** Links beside the button. */
  beside?: (row: Row) => ReactNode;
  tone?: (row: Row) => string;
  empty: ReactNode;
}

export function EventList<Row>({ label, replay, rows, at, children, beside, tone, empty }: Props<Row>) {
  const box = useRef<HTMLDivElement>(null);
  const times = useMemo(() => rows.map(at), [rows, at]);
  const current = useReplay(replay, (state) => lastBefore(times, state.at));
  const isPlaying = useReplay(replay, (state) => state.isPlaying);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  useEffect(() => {
    if (current >= 0 && !box.current?.matches(":hover, :focus-within"))
      list.scrollToIndex(current, { align: "center" });
  }, [current, list]);
  if (!rows.length) return <div className="px-3 py-6 text-center text-ink2">{empty}</div>;
  return (
    <div ref={box} className="h-full overflow-y-auto" tabIndex={-1}>
      <div role="list" aria-label={label} className="relative" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ index, start, key }) => {
          const row = rows[index];
          const isCurrent = index === current;
          return (
            <div
              key={key}
              ref={list.measureElement}
              data-index={index}
              role="listitem"
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              aria-current={isCurrent ? "true" : undefined}
              className={`absolute inset-x-0 flex items-start border-line border-b border-l-2 ${
                isCurrent ? "border-l-accent bg-accentsoft" : "border-l-transparent"
              } ${tone?.(row) ?? ""} ${isPlaying && index > current ? "opacity-60" : ""}`}
              style={{ transform: `translateY(${start}px)` }}
            >
              <button
                type="button"
                className="flex min-h-[29px] min-w-0 flex-1 items-start gap-2 px-2 py-1 text-left hover:bg-hover focus-visible:outline-offset-[-2px]"
                onClick={() => replay.seek(times[index])}
              >
                <span className="w-11 shrink-0 font-mono text-dense text-ink2 leading-5">{clock(times[index])}</span>
                {children(row)}
              </button>
              {beside?.(row)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
