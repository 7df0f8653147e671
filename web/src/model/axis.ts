// The time axis shared by charts of the same range: slots with a tick, and their labels.
import { clockMinutes, dayMonth, timeZone } from "./time";
import { zoneOffsetMinutes } from "./zones";

export interface AxisTick {
  /** Index of the slot; the tick is below the slot's middle. */
  index: number;
  /** Empty if the label would extend beyond the plot. */
  label: string;
}

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
const STEPS = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 720].map((minutes) => minutes * MINUTE),
  ...[1, 2, 5, 10, 30, 90, 365].map((days) => days * DAY),
];
/** Minimum width of a label with a date, in pixels. */
const LABEL_MIN = 84;

/** Ticks at round times of the viewer's time zone. Labels include the day if the range spans more than one. */
export function axisTicks(starts: number[], intervalMs: number, widthPx: number): AxisTick[] {
  if (!starts.length) return [];
  const most = Math.max(1, Math.floor(widthPx / LABEL_MIN));
  const local = starts.map((ms) => ms + zoneOffsetMinutes(timeZone(), ms) * MINUTE);
  const fits = (step: number) => step % intervalMs === 0 && (starts.length * intervalMs) / step <= most;
  const step = STEPS.find(fits) ?? Math.ceil(starts.length / most) * intervalMs;
  const period = (ms: number) => Math.floor(ms / step);
  let indices = starts
    .map((_, i) => i)
    .filter((i) => (i ? period(local[i]) !== period(local[i - 1]) : local[0] % step === 0));
  if (!indices.length) indices = [0];

  const day = (ms: number) => Math.floor(ms / DAY);
  const days = day(local[local.length - 1]) !== day(local[0]);
  let labelledDay = Number.NaN;
  return indices.map((index) => {
    const middle = ((index + 0.5) / starts.length) * widthPx;
    if (middle > widthPx - LABEL_MIN / 4) return { index, label: "" };
    const isNew = days && day(local[index]) !== labelledDay;
    labelledDay = day(local[index]);
    const clock = step < DAY && !(isNew && local[index] % DAY === 0);
    return {
      index,
      label: [isNew || step >= DAY ? dayMonth(starts[index]) : "", clock ? clockMinutes(starts[index]) : ""]
        .filter(Boolean)
        .join(" "),
    };
  });
}
