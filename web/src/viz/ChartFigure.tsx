// Wrapper of every chart: title, generated summary, legend, and the same data as a table (t).
import { Table2 } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { useKeys } from "../ui/keys";

export interface ChartTable {
  head: string[];
  /** In chronological order; displayed newest first. */
  rows: string[][];
}
interface Props {
  title: string;
  summary: string;
  table: () => ChartTable;
  legend?: { label: string; colour: string; hatch?: boolean }[];
  actions?: ReactNode;
  children: ReactNode;
  /** Without a frame. */
  bare?: boolean;
}

export function ChartFigure({ title, summary, table, legend, actions, children, bare }: Props) {
  const id = useId();
  const [asTable, setAsTable] = useState(false);
  useKeys({ t: () => setAsTable((old) => !old) });
  return (
    <figure
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-summary`}
      className={`${bare ? "" : "panel px-3 pt-2 pb-3"}`}
    >
      <figcaption className="mb-1 flex flex-wrap items-center gap-x-4 gap-y-1">
        <span id={`${id}-title`} className="font-semibold">
          {title}
        </span>
        {legend && legend.length > 0 && (
          <ul className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 text-dense text-ink2 max-sm:order-last max-sm:basis-full">
            {legend.map((item) => (
              <li key={item.label} className="inline-flex min-w-0 max-w-60 items-center gap-1.5">
                <span
                  aria-hidden
                  className={`size-2 shrink-0 rounded-[2px] ${item.hatch ? "hatch" : ""}`}
                  style={item.hatch ? undefined : { background: item.colour }}
                />
                <span className="truncate">{item.label}</span>
              </li>
            ))}
          </ul>
        )}
        <span className="ml-auto flex min-w-0 items-center gap-2">
          {actions}
          <button
            type="button"
            className="btn btn-ghost btn-icon"
            aria-pressed={asTable}
            aria-label={`View ${title} as ${asTable ? "chart" : "table"}`}
            onClick={() => setAsTable(!asTable)}
          >
            <Table2 size={14} aria-hidden className={asTable ? "text-accent" : "text-ink2"} />
          </button>
        </span>
      </figcaption>
      <p id={`${id}-summary`} className="sr-only">
        {summary}
      </p>
      {asTable ? <AsTable table={table()} label={title} /> : children}
    </figure>
  );
}

function AsTable({ table, label }: { table: ChartTable; label: string }) {
  return (
    // Deliberate: a scroll container must be reachable by keyboard
    <div
      className="max-h-64 overflow-auto rounded border border-line"
      tabIndex={0}
      role="region"
      aria-label={`${label}, table`}
    >
      <table className="dt">
        <thead>
          <tr>
            {table.head.map((head, i) => (
              <th key={head} scope="col" className={i ? "num" : ""}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.toReversed().map((row, i) => (
            <tr key={table.rows.length - i}>
              {row.map((cell, i) => (
                <td key={i} className={`h-6! py-0! ${i ? "num" : ""}`}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
