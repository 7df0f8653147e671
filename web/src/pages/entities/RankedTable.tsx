// A short ranking of names on another page: unsorted, with the numbers since open changes.
import type { EntityKind } from "../../api/entities";
import { type Column, DataTable } from "../../parts/DataTable";
import { useChangedNames, withOpenChanges } from "./openChanges";

interface Props<R> {
  kind: EntityKind;
  label: string;
  columns: Column<R, never>[] | Column<R, string>[];
  rows: R[];
  nameOf: (row: R) => string;
  /** Condition of the rows. */
  query?: string;
}

export function RankedTable<R>({ kind, label, columns, rows, nameOf, query = "" }: Props<R>) {
  const changed = useChangedNames<R>(kind, rows.map(nameOf), query);
  const unsorted = columns.map(({ sort: _, ...column }) => column as Column<R>);
  return (
    <div className="@container overflow-x-auto">
      <DataTable label={label} columns={withOpenChanges(kind, unsorted, changed, nameOf)} rows={rows} rowKey={nameOf} />
    </div>
  );
}
