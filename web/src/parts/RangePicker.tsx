import { Popover } from "@base-ui/react/popover";
import { Check, ChevronLeft, ChevronRight, Clock } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useRange } from "../api/range";
import { fromLocalInput, isLive, labelRange, PRESETS, resolveInstant, shift, toLocalInput } from "../model/range";

export function RangePicker() {
  const { range, span, isSinceBeginning, nowMs, setRange, zoomTo } = useRange();
  const label = isSinceBeginning ? "Since data began" : labelRange(range);
  const [open, setOpen] = useState(false);
  return (
    <div className="flex min-w-0 items-center">
      <button
        type="button"
        className="btn rounded-r-none! px-1.5!"
        aria-label="One range earlier"
        onClick={() => zoomTo(shift(span, -1, nowMs))}
      >
        <ChevronLeft size={14} aria-hidden />
      </button>
      <Popover.Root open={open} onOpenChange={setOpen}>
        <Popover.Trigger
          data-range-button
          className="btn -mx-px min-w-0 rounded-none!"
          aria-label={`Time range: ${label}. Change`}
        >
          <Clock size={14} aria-hidden className="shrink-0 text-ink2" />
          <span className="truncate">{label}</span>
        </Popover.Trigger>
        <Popover.Portal>
          <Popover.Positioner sideOffset={4} align="end" className="z-50">
            <Popover.Popup
              className="menu appear flex w-[min(460px,calc(100vw-16px))] gap-2 p-2! max-sm:flex-col"
              aria-label="Time range"
            >
              <ul className="shrink-0 sm:w-44 max-sm:grid max-sm:grid-cols-2">
                {PRESETS.map((preset) => {
                  const on = isLive(range) && range.from === preset.from;
                  return (
                    <li key={preset.from}>
                      <button
                        type="button"
                        className="menu-item"
                        aria-pressed={on}
                        onClick={() => {
                          setRange({ from: preset.from, to: "now" });
                          setOpen(false);
                        }}
                      >
                        <span className="flex-1">{preset.label}</span>
                        {on && <Check size={14} aria-hidden className="text-accent" />}
                      </button>
                    </li>
                  );
                })}
              </ul>
              <Custom close={() => setOpen(false)} />
            </Popover.Popup>
          </Popover.Positioner>
        </Popover.Portal>
      </Popover.Root>
      <button
        type="button"
        className="btn rounded-l-none! px-1.5!"
        aria-label="One range later"
        disabled={span.toMs >= nowMs - 1000}
        onClick={() => zoomTo(shift(span, 1, nowMs))}
      >
        <ChevronRight size={14} aria-hidden />
      </button>
    </div>
  );
}

function Custom({ close }: { close: () => void }) {
  const { span, setRange, nowMs } = useRange();
  const [from, setFrom] = useState(() => toLocalInput(span.fromMs));
  const [to, setTo] = useState(() => toLocalInput(span.toMs));
  const [relative, setRelative] = useState("");
  const fromMs = fromLocalInput(from);
  const toMs = fromLocalInput(to);
  const wrong =
    !Number.isFinite(fromMs) || !Number.isFinite(toMs)
      ? "Fill in both times."
      : toMs <= fromMs
        ? "The end must be after the start."
        : "";
  const relativeText = /^\d{1,5}\s*[smhdw]$/.test(relative.trim()) ? `now-${relative.replace(/\s/g, "")}` : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (wrong) return;
    setRange({ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() });
    close();
  };
  const submitRelative = (event: FormEvent) => {
    event.preventDefault();
    if (!relativeText || resolveInstant(relativeText, nowMs) === null) return;
    setRange({ from: relativeText, to: "now" });
    close();
  };
  return (
    <div className="min-w-0 flex-1 space-y-3 border-line p-1 sm:border-l sm:pl-3">
      <form onSubmit={submitRelative}>
        <label className="block text-dense text-ink2" htmlFor="range-relative">
          Last…
        </label>
        <div className="flex gap-1">
          <input
            id="range-relative"
            className="input"
            placeholder="90m, 3h, 5d, 2w"
            value={relative}
            onChange={(event) => setRelative(event.target.value)}
          />
          <button type="submit" className="btn" disabled={!relativeText}>
            Set
          </button>
        </div>
      </form>
      <form onSubmit={submit} className="space-y-2">
        <label className="block text-dense text-ink2">
          From
          <input
            type="datetime-local"
            step="1"
            className="input mt-0.5"
            value={from}
            onChange={(event) => setFrom(event.target.value)}
          />
        </label>
        <label className="block text-dense text-ink2">
          To
          <input
            type="datetime-local"
            step="1"
            className="input mt-0.5"
            value={to}
            onChange={(event) => setTo(event.target.value)}
          />
        </label>
        <p className="min-h-4 text-dense text-error" role="status">
          {wrong}
        </p>
        <button type="submit" className="btn btn-primary w-full" disabled={!!wrong}>
          Use these times
        </button>
      </form>
    </div>
  );
}
