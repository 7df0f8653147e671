// A timeline as bars. A list below it has the same shifts for screen readers and phones.
import type { Shift, Timeline } from "../../api/oncall";
import { dateTime, dayMonth, parseMs } from "../../model/time";

const COLORS = ["var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c6)"];

const DAY = 86_400_000;

export function TimelineBars({ timeline, now }: { timeline: Timeline; now: number }) {
  const [from, to] = [parseMs(timeline.from), parseMs(timeline.to)];
  const at = (ms: number) => `${(100 * (ms - from)) / (to - from)}%`;
  const people = Object.keys(timeline.users);
  const color = (user: number) => COLORS[people.indexOf(String(user)) % COLORS.length];
  const name = (user: number) => {
    const person = timeline.users[String(user)];
    return person ? person.name || person.email : "somebody who left";
  };
  const days = Math.round((to - from) / DAY);
  const step = Math.max(1, Math.ceil(days / 8)) * DAY;
  const ticks = Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
  const bars = (shifts: Shift[]) =>
    shifts.map((shift) => {
      const [start, end] = [Math.max(from, parseMs(shift.start)), Math.min(to, parseMs(shift.end))];
      const words = `${name(shift.userId)}, ${dateTime(start)} to ${dateTime(end)}${shift.isOverride ? ", override" : ""}`;
      return (
        <div
          key={shift.start}
          title={words}
          className={`absolute inset-y-0.5 overflow-hidden rounded-sm border bg-panel px-1 text-caption leading-5 ${shift.isOverride ? "border-dashed" : ""}`}
          style={{
            left: at(start),
            width: `${(100 * (end - start)) / (to - from)}%`,
            borderColor: color(shift.userId),
            borderLeftWidth: 4,
          }}
        >
          <span className="whitespace-nowrap">{name(shift.userId)}</span>
        </div>
      );
    });
  const rows = [
    ...timeline.layers.map((layer, index) => ({ label: layer.name || `Layer ${index + 1}`, shifts: layer.shifts })),
    { label: "On call", shifts: timeline.final },
  ];
  return (
    <div className="space-y-2">
      <div aria-hidden className="overflow-hidden">
        <div className="ml-24 flex justify-between text-caption text-ink2 max-sm:ml-0">
          {ticks.slice(0, 8).map((tick) => (
            <span key={tick}>{dayMonth(tick)}</span>
          ))}
        </div>
        {rows.map((row, index) => (
          <div
            key={index}
            className={`flex items-center gap-2 ${index === rows.length - 1 ? "mt-1 border-line border-t pt-1" : ""}`}
          >
            <span className="w-22 shrink-0 truncate text-dense text-ink2 max-sm:hidden">{row.label}</span>
            <div className="relative h-7 min-w-0 flex-1 bg-bg">
              {bars(row.shifts)}
              {now >= from && now < to && (
                <span className="absolute inset-y-0 w-0.5 bg-error" style={{ left: at(now) }} />
              )}
            </div>
          </div>
        ))}
      </div>
      <details>
        <summary className="cursor-pointer text-ink2">Shifts as a list</summary>
        <ul aria-label="Shifts" className="mt-1 max-h-60 space-y-0.5 overflow-y-auto">
          {timeline.final.map((shift) => (
            <li key={shift.start} className="[overflow-wrap:anywhere]">
              {name(shift.userId)}, {dateTime(parseMs(shift.start))} to {dateTime(parseMs(shift.end))}
              {shift.isOverride && " (override)"}
            </li>
          ))}
          {timeline.final.length === 0 && <li className="text-ink2">Nobody is on call.</li>}
        </ul>
      </details>
    </div>
  );
}
