// A dense table. Sort headers are links (the URL holds the order), one link per row covers the row, cards on phones.
import { ArrowDown, ArrowUp } from "lucide-react";
import type { ReactNode } from "react";
import { type Sort, sortText } from "../model/search";
import { SearchLink } from "../ui/SearchLink";
import { Tip } from "../ui/Tip";

export interface Column<Row, Order extends string = never> {
  key: string;
  head: string;
  /** Explanation in the heading's tooltip. */
  help?: string;
  num?: boolean;
  /** Monospace cells (not the heading), for identifiers. */
  mono?: boolean;
  /** Name of the order in the URL and in requests; absent if not sortable. */
  sort?: Order;
  /** The first click sorts in ascending order (names). */
  ascFirst?: boolean;
  width?: string;
  /** On phones: "main" spans the card without a label, "hide" omits the cell, "half" takes two of three columns. */
  card?: "main" | "hide" | "half";
  /** Class of the column's header and cells, such as "max-xl:hidden". */
  className?: string;
  cell: (row: Row) => ReactNode;
}

interface Props<Row, Order extends string> {
  label: string;
  columns: readonly Column<Row, Order>[];
  rows: Row[];
  rowKey: (row: Row) => string;
  sort?: Sort<Order>;
  rowClass?: (row: Row) => string;
}

export function DataTable<Row, Order extends string>({
  label,
  columns,
  rows,
  rowKey,
  sort,
  rowClass,
}: Props<Row, Order>) {
  return (
    <table className="dt cards" role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th
              key={column.key}
              role="columnheader"
              scope="col"
              className={`${column.num ? "num" : ""} ${column.className ?? ""}`}
              style={column.width ? { width: column.width } : undefined}
              aria-sort={column.sort && sort?.by === column.sort ? (sort.desc ? "descending" : "ascending") : undefined}
            >
              <Head column={column} sort={sort} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={rowKey(row)} data-key={rowKey(row)} role="row" className={rowClass?.(row)}>
            {columns.map((column) => (
              <td
                key={column.key}
                role="cell"
                className={`${column.num ? "num" : ""} ${column.className ?? ""}`}
                data-main={column.card === "main"}
                data-card={column.card}
                data-label={column.card === "main" ? undefined : column.head || undefined}
              >
                {column.mono ? <span className="font-mono text-dense">{column.cell(row)}</span> : column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Head<Row, Order extends string>({ column, sort }: { column: Column<Row, Order>; sort?: Sort<Order> }) {
  if (!column.sort)
    return column.help ? (
      <HeadWithHelp text={column.help}>{column.head}</HeadWithHelp>
    ) : (
      column.head || <span className="sr-only">{column.key}</span>
    );
  const on = sort?.by === column.sort;
  const next = sortText({ by: column.sort, desc: on ? !sort.desc : !column.ascFirst });
  const Arrow = on && !sort.desc ? ArrowUp : ArrowDown;
  const link = (
    <SearchLink
      change={{ sort: next, page: undefined }}
      className={`inline-flex items-center gap-0.5 rounded hover:text-ink ${on ? "text-ink" : ""} ${column.num ? "flex-row-reverse" : ""}`}
    >
      {column.head}
      <Arrow size={12} aria-hidden className={on ? "" : "opacity-0"} />
    </SearchLink>
  );
  return column.help ? <Tip text={column.help}>{link}</Tip> : link;
}

function HeadWithHelp({ text, children }: { text: string; children: ReactNode }) {
  return (
    <Tip text={text}>
      <button
        type="button"
        className="cursor-help rounded underline decoration-control decoration-dotted underline-offset-3"
      >
        {children}
      </button>
    </Tip>
  );
}
