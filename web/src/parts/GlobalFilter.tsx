// The services and environments that all pages show: two controls of the top bar, in the URL as `service` and `env`.
import { Popover } from "@base-ui/react/popover";
import { Boxes, ChevronDown, Layers, type LucideIcon, X } from "lucide-react";
import { type KeyboardEvent, useRef, useState } from "react";
import { useGlobalFilter } from "../api/global-filter";
import { useGet } from "../api/hooks";
import { useRange } from "../api/range";
import { toggled, VALUES_MAX, valuesLabel, valuesText } from "../model/global-filter";
import { usePatchSearch } from "./listSearch";

export function GlobalFilter() {
  const { services, environments } = useGlobalFilter();
  const [wanted, setWanted] = useState(false);
  const { body } = useRange();
  const known = useGet("/api/services", { query: { from: body.fromDate, to: body.toDate }, enabled: wanted });
  const names = known.data?.services.map((one) => one.name) ?? [];
  const state = { busy: known.isPending, failed: known.isError, onOpen: () => setWanted(true) };
  return (
    <>
      <Values
        {...state}
        name="service"
        noun="Services"
        all="All services"
        icon={Boxes}
        values={services}
        known={names}
      />
      <Values
        {...state}
        name="env"
        noun="Environments"
        all="All environments"
        icon={Layers}
        values={environments}
        known={known.data?.environments ?? []}
      />
    </>
  );
}

interface Props {
  /** Name in the URL. */
  name: "service" | "env";
  noun: string;
  all: string;
  icon: LucideIcon;
  values: string[];
  known: string[];
  busy: boolean;
  failed: boolean;
  onOpen: () => void;
}

function Values({ name, noun, all, icon: Icon, values, known, busy, failed, onOpen }: Props) {
  const patch = usePatchSearch();
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const list = useRef<HTMLUListElement>(null);
  const label = valuesLabel(all, values);
  const set = (next: string[]) => patch({ [name]: valuesText(next) });
  const options = [...new Set([...values, ...known])].filter(Boolean).sort();
  const shown = options.filter((one) => one.toLowerCase().includes(typed.trim().toLowerCase()));
  const change = (next: boolean) => {
    setOpen(next);
    setTyped("");
    if (next) onOpen();
  };
  /** Arrow keys move between the text and the values. */
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const boxes = [...(list.current?.querySelectorAll("input") ?? [])];
    boxes[boxes.indexOf(event.target as HTMLInputElement) + step]?.focus();
  };
  return (
    <Popover.Root open={open} onOpenChange={change}>
      <Popover.Trigger
        className={`btn min-w-0 max-md:flex-1 max-md:justify-start! ${values.length ? "border-accent! text-accent!" : "text-ink2!"}`}
        aria-label={`${noun}: ${label}${values.length > 1 ? ` (${values.join(", ")})` : ""}. Change`}
        title={values.join(", ") || all}
      >
        <Icon size={14} aria-hidden className="shrink-0" />
        <span className={`truncate md:max-w-32 ${values.length ? "" : "lg:max-xl:hidden"}`}>{label}</span>
        <ChevronDown size={13} aria-hidden className="shrink-0 text-ink2" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={4} align="end" className="z-50">
          <Popover.Popup
            className="menu appear flex max-h-[min(70vh,420px)] w-64 flex-col"
            aria-label={noun}
            onKeyDown={move}
          >
            <input
              className="input mb-1"
              type="search"
              aria-label={`Search ${noun.toLowerCase()}`}
              placeholder="Search"
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
            <ul ref={list} className="min-h-0 flex-1 overflow-y-auto" aria-label={noun}>
              {shown.map((one) => (
                <li key={one}>
                  <label className="menu-item cursor-pointer">
                    <input
                      type="checkbox"
                      className="size-3.5 shrink-0 accent-accent"
                      checked={values.includes(one)}
                      disabled={values.length >= VALUES_MAX && !values.includes(one)}
                      onChange={() => set(toggled(values, one))}
                    />
                    <span className="min-w-0 flex-1 truncate" title={one}>
                      {one}
                    </span>
                  </label>
                </li>
              ))}
            </ul>
            {!shown.length && (
              <p className="px-2 py-1.5 text-dense text-ink2" role="status">
                {busy
                  ? "Loading…"
                  : failed
                    ? "The list did not load."
                    : typed
                      ? "None has this name."
                      : `No ${noun.toLowerCase()} in this time range.`}
              </p>
            )}
            {values.length > 0 && (
              <button type="button" className="menu-item mt-1 border-line border-t" onClick={() => set([])}>
                <X size={14} aria-hidden /> {all}
              </button>
            )}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
