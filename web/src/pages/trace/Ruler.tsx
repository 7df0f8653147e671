import { niceTicks } from "../../model/buckets";
import { durationRound } from "../../model/format";
import type { Zoom } from "../../viz/Minimap";

/** Minimum width of a time label, in pixels. */
const LABEL_MIN = 64;

/** `width` is the width of the bars in pixels. */
export function rulerTicks(zoom: Zoom, width: number): number[] {
  const length = zoom.to - zoom.from;
  const step = niceTicks(length, Math.max(1, Math.min(6, Math.floor(width / LABEL_MIN))))[1] ?? length;
  if (!(step > 0)) return [];
  const ticks: number[] = [];
  for (let at = Math.ceil(zoom.from / step - 1e-9) * step; at < zoom.to && ticks.length < 20; at += step)
    ticks.push(Number(at.toPrecision(12)));
  return ticks;
}

/** Time labels above the bars. */
export function Ruler({ zoom, width }: { zoom: Zoom; width: number }) {
  const length = zoom.to - zoom.from;
  return (
    <div aria-hidden className="relative h-7 overflow-hidden">
      {rulerTicks(zoom, width).map((at) => {
        const left = ((at - zoom.from) / length) * 100;
        return (
          <span
            key={at}
            className="absolute top-0 bottom-0 border-line border-l pt-1.5 pl-1 text-[11px] text-ink2 leading-4"
            style={{ left: `${left}%` }}
          >
            {left < 100 - (LABEL_MIN * 60) / Math.max(1, width) ? durationRound(at) : ""}
          </span>
        );
      })}
    </div>
  );
}

/** Grid lines of the ruler behind the rows. */
export function Grid({ zoom, width }: { zoom: Zoom; width: number }) {
  const length = zoom.to - zoom.from;
  return (
    <div aria-hidden className="pointer-events-none absolute inset-y-0 right-0 left-[calc(var(--names)+var(--times))]">
      {rulerTicks(zoom, width).map((at) => (
        <span
          key={at}
          className="absolute inset-y-0 border-line border-l"
          style={{ left: `${((at - zoom.from) / length) * 100}%` }}
        />
      ))}
    </div>
  );
}
