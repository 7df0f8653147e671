import { Menu } from "@base-ui/react/menu";
import { useIsFetching } from "@tanstack/react-query";
import { Check, ChevronDown, RefreshCw } from "lucide-react";
import { useRange } from "../api/range";

const CHOICES = [
  [0, "Off"],
  [5, "Every 5 seconds"],
  [10, "Every 10 seconds"],
  [30, "Every 30 seconds"],
  [60, "Every minute"],
  [300, "Every 5 minutes"],
] as const;

export function RefreshControl() {
  const { refresh, every, setEvery } = useRange();
  const short = every === 0 ? "" : every < 60 ? `${every} s` : `${every / 60} min`;
  const busy = useIsFetching() > 0;
  return (
    <div className="flex">
      <button type="button" className="btn btn-icon rounded-r-none!" aria-label="Refresh now" onClick={refresh}>
        <RefreshCw size={14} aria-hidden className={busy ? "animate-spin text-accent" : "text-ink2"} />
      </button>
      <Menu.Root>
        <Menu.Trigger
          className="btn -ml-px rounded-l-none! px-1.5!"
          aria-label={`Automatic refresh: ${short || "off"}`}
        >
          {short && <span className="text-accent text-dense">{short}</span>}
          <ChevronDown size={13} aria-hidden className="text-ink2" />
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner sideOffset={4} align="end" className="z-50">
            <Menu.Popup className="menu appear w-48">
              {CHOICES.map(([seconds, label]) => (
                <Menu.Item key={seconds} className="menu-item" onClick={() => setEvery(seconds)}>
                  <span className="flex-1">{label}</span>
                  {seconds === every && <Check size={14} aria-label="current" className="text-accent" />}
                </Menu.Item>
              ))}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
    </div>
  );
}
