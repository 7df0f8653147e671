// The state of a monitor, its days and its latest durations.
import { durationMs } from "../../model/format";
import { type DayBar, dayBars, stateWords, uptimeText } from "../../model/monitors";
import { exactTime } from "../../model/time";
import type { Check, CheckDay, CheckDuration } from "../../model/types";
import { Chip } from "../../ui/Chip";

export function StateChip({ check }: { check: Check }) {
  const { word, tone } = stateWords(check);
  return (
    <Chip tone={tone} tip={`Since ${exactTime(check.stateSince)}`}>
      {word}
    </Chip>
  );
}

const COLOURS: Record<DayBar["tone"], string> = {
  none: "var(--line)",
  ok: "var(--ok)",
  warn: "var(--warn)",
  error: "var(--error)",
};

/** A bar for each of the last 90 UTC days. */
export function DayBars({
  days,
  uptime,
  nowMs,
  height = 20,
}: {
  days: CheckDay[];
  uptime: number | null | undefined;
  nowMs: number;
  height?: number;
}) {
  const bars = dayBars(days, nowMs);
  const bad = bars.filter((bar) => bar.tone === "warn" || bar.tone === "error").length;
  const label = `Last 90 days: ${uptimeText(uptime)} good, failures on ${bad} ${bad === 1 ? "day" : "days"}`;
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${bars.length * 4} ${height}`}
      preserveAspectRatio="none"
      className="block w-full"
      style={{ height }}
    >
      {bars.map((bar, index) => (
        <rect key={bar.day} x={index * 4} width="3" height={height} fill={COLOURS[bar.tone]}>
          <title>{bar.words}</title>
        </rect>
      ))}
    </svg>
  );
}

const WIDTH = 96;
const HEIGHT = 20;

/** The latest durations as a line, from 0 to the longest. */
export function DurationLine({ durations }: { durations: CheckDuration[] }) {
  if (!durations.length) return <span className="text-ink2">–</span>;
  const longest = Math.max(...durations.map((one) => one.ms), 1);
  const step = durations.length > 1 ? WIDTH / (durations.length - 1) : 0;
  const points = durations.map(
    (one, index) => `${(index * step).toFixed(1)},${(HEIGHT - 1 - (one.ms / longest) * (HEIGHT - 2)).toFixed(1)}`,
  );
  const latest = durations[durations.length - 1];
  return (
    <span className="inline-flex items-center gap-2">
      <svg
        width={WIDTH}
        height={HEIGHT}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`Latest ${durations.length} durations: at most ${durationMs(longest)}`}
        className="block max-sm:hidden"
      >
        <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} stroke="var(--line)" />
        {points.length > 1 ? (
          <polyline points={points.join(" ")} fill="none" stroke="var(--accent)" strokeWidth="1.5" />
        ) : (
          <circle cx={WIDTH / 2} cy={HEIGHT / 2} r="2" fill="var(--accent)" />
        )}
      </svg>
      <span className="whitespace-nowrap text-ink2">{durationMs(latest.ms)}</span>
    </span>
  );
}
