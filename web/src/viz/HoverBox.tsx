import type { ReactNode } from "react";
import { clockMinutes, dateTime } from "../model/time";

interface Line {
  label: string;
  /** Any CSS colour. */
  colour: string;
  /** Formatted value of the slot; undefined omits the line. */
  value: string | undefined;
}

/** The values of one slot. Follows the cursor, stays inside the chart and ignores pointer events. */
export function HoverBox({
  left,
  width,
  start,
  intervalMs,
  lines,
}: {
  left: number;
  width: number;
  start: number;
  intervalMs: number;
  lines: Line[];
}) {
  const flip = left > width / 2;
  const shown = lines.filter((line) => line.value !== undefined);
  return (
    <Box style={flip ? { right: width - left + 12 } : { left: left + 12 }}>
      <div className="font-medium">
        {dateTime(start).replace(/:\d\d$/, "")} – {clockMinutes(start + intervalMs)}
      </div>
      {shown.map((line) => (
        <div key={line.label} className="flex items-center gap-1.5">
          <span className="size-2 shrink-0 rounded-[2px]" style={{ background: line.colour }} />
          <span className="min-w-0 flex-1 truncate text-ink2">{line.label}</span>
          <span>{line.value}</span>
        </div>
      ))}
      {!shown.length && <div className="text-ink2">nothing arrived</div>}
    </Box>
  );
}

function Box({ style, children }: { style: { left?: number; right?: number }; children: ReactNode }) {
  return (
    <div
      aria-hidden
      data-hover
      className="menu pointer-events-none absolute top-1 z-10 max-w-80 min-w-40 px-2! py-1.5! text-dense"
      style={style}
    >
      {children}
    </div>
  );
}

/** Replaces the axis of a chart without measurements. */
export function NothingMeasured() {
  return (
    <p className="absolute inset-x-0 top-[38%] text-center text-ink2" data-empty>
      Nothing was measured in this time range.
    </p>
  );
}
