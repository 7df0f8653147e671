import { niceTicks } from "../../model/buckets";
import { durationMs } from "../../model/format";
import type { Zoom } from "../../viz/Minimap";

export function rulerTicks(zoom: Zoom): number[] {
  const length = zoom.to - zoom.from;
  const step = niceTicks(length, 5)[1];
  const ticks: number[] = [];
  for (let at = Math.ceil(zoom.from / step - 1e-9) * step; at < zoom.to && ticks.length < 20; at += step)
    ticks.push(Number(at.toPrecision(12)));
  return ticks;
}

/** Times along the top of the bars. */
export function Ruler({ zoom }: { zoom: Zoom }) {
  const length = zoom.to - zoom.from;
  return (
    <div aria-hidden className="relative h-7 overflow-hidden">
      {rulerTicks(zoom).map((at) => {
        const left = ((at - zoom.from) / length) * 100;
        return (
          <span
            key={at}
            className="absolute top-0 bottom-0 border-line border-l pt-1.5 pl-1 text-[11px] text-ink2 leading-4"
            style={{ left: `${left}%` }}
          >
            {left < 93 ? durationMs(at) : ""}
          </span>
        );
      })}
    </div>
  );
}

/** The same lines behind the rows. */
export function Grid({ zoom }: { zoom: Zoom }) {
  const length = zoom.to - zoom.from;
  return (
    <div aria-hidden className="pointer-events-none absolute inset-y-0 right-0 left-(--names)">
      {rulerTicks(zoom).map((at) => (
        <span
          key={at}
          className="absolute inset-y-0 border-line border-l"
          style={{ left: `${((at - zoom.from) / length) * 100}%` }}
        />
      ))}
    </div>
  );
}
