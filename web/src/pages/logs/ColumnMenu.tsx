// Chooses the columns of the list of logs. They are in the address.
import { Popover } from "@base-ui/react/popover";
import { Columns3 } from "lucide-react";
import { useState } from "react";
import { COLUMNS_MAX, columnKeys } from "../../model/log-columns";
import type { LogRow } from "../../model/types";

interface Props {
  rows: LogRow[];
  columns: string[];
  onChange: (columns: string[]) => void;
}

export function ColumnMenu({ rows, columns, onChange }: Props) {
  const [typed, setTyped] = useState("");
  const wanted = typed.trim().toLowerCase();
  const known = [...new Set([...columns, ...columnKeys(rows)])];
  const shown = known.filter((key) => key.toLowerCase().includes(wanted));
  const isFull = columns.length >= COLUMNS_MAX;
  const toggle = (key: string) =>
    onChange(columns.includes(key) ? columns.filter((one) => one !== key) : [...columns, key]);
  return (
    <Popover.Root onOpenChange={() => setTyped("")}>
      <Popover.Trigger className="btn">
        <Columns3 size={14} aria-hidden /> Columns{columns.length > 0 && ` (${columns.length})`}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={4} align="end" className="z-50">
          <Popover.Popup className="menu appear w-72 p-2!" aria-label="Columns">
            <form
              onSubmit={(event) => {
                event.preventDefault();
                const key = typed.trim();
                if (key && !columns.includes(key) && !isFull) onChange([...columns, key]);
                setTyped("");
              }}
            >
              <input
                className="input font-mono text-dense!"
                aria-label="Attribute, or body. and a field"
                placeholder="Attribute, or body. and a field"
                value={typed}
                onChange={(event) => setTyped(event.target.value)}
              />
            </form>
            <ul className="mt-2 max-h-64 overflow-auto" aria-label="Columns of the list">
              {shown.map((key) => (
                <li key={key}>
                  <label className="flex min-h-6 cursor-pointer items-center gap-2 rounded px-1 hover:bg-hover">
                    <input
                      type="checkbox"
                      checked={columns.includes(key)}
                      disabled={isFull && !columns.includes(key)}
                      onChange={() => toggle(key)}
                    />
                    <span className="min-w-0 truncate font-mono text-dense" title={key}>
                      {key}
                    </span>
                  </label>
                </li>
              ))}
              {!shown.length && (
                <li className="px-1 text-ink2">{wanted ? "Enter adds this name." : "No attributes."}</li>
              )}
            </ul>
            {isFull && <p className="px-1 pt-1 text-caption text-ink2">At most {COLUMNS_MAX} columns.</p>}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
