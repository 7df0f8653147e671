import { align, slots } from "../model/buckets";
import { count } from "../model/format";
import type { Span } from "../model/range";
import { parseMs } from "../model/time";
import type { Point } from "../model/types";

const WIDTH = 96;
const HEIGHT = 20;

/** Bars over the range, one per bucket; a bucket without data has no bar. */
export function Sparkline({
  points,
  span,
  tone = "accent",
  label = "Trend",
  buckets = 24,
}: {
  points: Point[] | null;
  span: Span;
  tone?: "accent" | "error";
  label?: string;
  buckets?: number;
}) {
  const data = (points ?? []).map((point) => ({ ms: parseMs(point.timestamp), value: point.count }));
  if (!data.length) return <span className="text-ink2">–</span>;
  const interval = Math.max(60_000, Math.ceil((span.toMs - span.fromMs) / buckets / 60_000) * 60_000);
  const starts = slots(span.fromMs, span.toMs, interval, 200);
  const values = align(starts, data, interval);
  const max = Math.max(...data.map((point) => point.value), 1);
  const total = data.reduce((sum, point) => sum + point.value, 0);
  const step = WIDTH / starts.length;
  const colour = tone === "error" ? "var(--error)" : "var(--accent)";
  return (
    <svg
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`${label}: ${count(total)} in all, at most ${count(max)} per bar`}
      className="block"
    >
      <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} stroke="var(--line)" />
      {values.map((value, i) => {
        if (!value) return null;
        const height = Math.max(1.5, (value / max) * (HEIGHT - 2));
        return (
          <rect
            key={starts[i]}
            x={i * step + 0.25}
            y={HEIGHT - height}
            width={Math.max(1, step - 0.75)}
            height={height}
            rx="0.5"
            fill={colour}
            fillOpacity={0.8}
          />
        );
      })}
    </svg>
  );
}
