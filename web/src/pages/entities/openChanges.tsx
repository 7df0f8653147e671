// Open changes in the rankings: the numbers of a subject that got worse are those since then, and a chip says so.
import { useQueries } from "@tanstack/react-query";
import { ENTITIES, type EntityKind } from "../../api/entities";
import { useGlobalFilter, withFilter } from "../../api/global-filter";
import { postOptions, usePost, useProjectId } from "../../api/hooks";
import { useRange } from "../../api/range";
import { type OpenChange, openChangeOf } from "../../model/open-changes";
import { allOf, equals } from "../../model/query";
import type { Column } from "../../parts/DataTable";
import { ChangeChip, sinceBody, useChanges } from "../../parts/OpenChange";

const KINDS = { endpoint: "endpoint", task: "task", aiTrace: "ai_trace" } as const;
/** Rows whose numbers since a change are read. */
const ROWS_READ = 10;
/** Columns that show the numbers since the change. A task's impact is a sum over the range. */
const SINCE: Record<EntityKind, Set<string>> = {
  endpoint: new Set(["impact", "errors", "p50", "p95", "p99", "apdex"]),
  task: new Set(["errors", "p50", "p95", "p99"]),
  aiTrace: new Set(["errors", "p50", "p95", "per"]),
};

export interface ChangedName<R> extends OpenChange {
  /** The numbers since the change; undefined until they are read. */
  since?: R;
}

/** Those names that have an open change, or suffer from one. `body`: further fields of the request. */
export function useChangedNames<R>(
  kind: EntityKind,
  names: string[],
  query: string,
  body: object = {},
): Map<string, ChangedName<R>> {
  const projectId = useProjectId();
  const { span } = useRange();
  const filter = useGlobalFilter();
  const cards = useChanges();
  const changed = names.flatMap((name) => {
    const change = openChangeOf(cards, KINDS[kind], name);
    return change ? [{ name, ...change }] : [];
  });
  const route = ENTITIES[kind].groups;
  const answers = useQueries({
    queries: changed.slice(0, ROWS_READ).map(({ name, card }) => {
      const request = {
        ...body,
        ...sinceBody(card, span.toMs),
        query: allOf(equals("name", name), query),
        pagination: { page: 1, pageSize: 1 },
      };
      // The cast is sound: the route is that of the kind.
      return postOptions(projectId, route, request as never, { query: withFilter(filter, route, undefined) });
    }),
  });
  return new Map(
    changed.map(({ name, ...change }, index) => {
      const answer = answers[index]?.data as { data: R[] | null } | undefined;
      return [name, { ...change, since: answer?.data?.[0] }];
    }),
  );
}

/** Columns with the numbers since the change, and its chip beside the name. */
export function withOpenChanges<R, Order extends string>(
  kind: EntityKind,
  columns: Column<R, Order>[],
  changed: Map<string, ChangedName<R>>,
  nameOf: (row: R) => string,
): Column<R, Order>[] {
  if (!changed.size) return columns;
  return columns.map((column) => {
    if (column.key === "name")
      return {
        ...column,
        cell: (row) => {
          const change = changed.get(nameOf(row));
          if (!change) return column.cell(row);
          return (
            <div className="name-cell [&>.name-cell]:contents">
              {column.cell(row)}
              <ChangeChip card={change.card} suffers={change.suffers} />
            </div>
          );
        },
      };
    if (!SINCE[kind].has(column.key)) return column;
    return { ...column, cell: (row) => column.cell(changed.get(nameOf(row))?.since ?? row) };
  });
}

/** The open change of a name, and the statistics of its rows since then; undefined until they are read, or not `enabled`. */
export function useSince(kind: EntityKind, name: string, enabled = true) {
  const { span } = useRange();
  const known = openChangeOf(useChanges(), KINDS[kind], name);
  const change = enabled ? known : undefined;
  const { rows, field } = ENTITIES[kind];
  const request = change && { ...sinceBody(change.card, span.toMs), pagination: { page: 1, pageSize: 1 } };
  // The cast is sound: the route is that of the kind.
  const answer = usePost(rows, (request ?? {}) as object, { query: { [field]: name }, enabled: !!change, keep: false });
  return { change, answer: change && answer.data };
}
