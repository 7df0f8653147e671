// Open changes in the rankings: the numbers of a subject that got worse are those since then, and a chip says so.
import { useQueries } from "@tanstack/react-query";
import { ENTITIES, type EntityKind } from "../../api/entities";
import { useGlobalFilter, withFilter } from "../../api/global-filter";
import { postOptions, useProjectId } from "../../api/hooks";
import { useRange } from "../../api/range";
import { allOf, equals } from "../../model/query";
import type { ChangeCard } from "../../model/types";
import { openChanges, sufferingOf } from "../../model/verdict";
import type { Column } from "../../parts/DataTable";
import { ChangeChip, sinceBody, useChanges } from "../../parts/verdict";

const KINDS = { endpoint: "endpoint", task: "task", aiTrace: "ai_trace" } as const;
/** Numbers since a change are read for this many rows. */
const JUDGED_ROWS = 10;
/** Columns that show the numbers since the change. A task's impact is a sum over the range. */
const JUDGED: Record<EntityKind, Set<string>> = {
  endpoint: new Set(["impact", "errors", "p50", "p95", "p99", "apdex"]),
  task: new Set(["errors", "p50", "p95", "p99"]),
  aiTrace: new Set(["errors", "p50", "p95", "per"]),
};

export interface Verdict<R> {
  card: ChangeCard;
  suffers: boolean;
  /** The numbers since the change; undefined until they are read. */
  since?: R;
}

/** The verdicts of those names that have an open change, or suffer from one. `body`: further fields of the request. */
export function useVerdicts<R>(
  kind: EntityKind,
  names: string[],
  query: string,
  body: object = {},
): Map<string, Verdict<R>> {
  const projectId = useProjectId();
  const { span } = useRange();
  const filter = useGlobalFilter();
  const cards = useChanges();
  const [own, suffering] = [openChanges(cards, KINDS[kind]), sufferingOf(cards)];
  const judged = names.flatMap((name) => {
    const card = own.get(name) ?? (kind === "aiTrace" ? undefined : suffering.get(name));
    return card ? [{ name, card, suffers: !own.has(name) }] : [];
  });
  const route = ENTITIES[kind].groups;
  const answers = useQueries({
    queries: judged.slice(0, JUDGED_ROWS).map(({ name, card }) => {
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
    judged.map(({ name, ...verdict }, index) => {
      const answer = answers[index]?.data as { data: R[] | null } | undefined;
      return [name, { ...verdict, since: answer?.data?.[0] }];
    }),
  );
}

/** Columns whose judged numbers are those since the change, with its chip beside the name. */
export function withVerdicts<R, Order extends string>(
  kind: EntityKind,
  columns: Column<R, Order>[],
  verdicts: Map<string, Verdict<R>>,
  nameOf: (row: R) => string,
): Column<R, Order>[] {
  if (!verdicts.size) return columns;
  return columns.map((column) => {
    if (column.key === "name")
      return {
        ...column,
        cell: (row) => {
          const verdict = verdicts.get(nameOf(row));
          if (!verdict) return column.cell(row);
          return (
            <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5">
              {column.cell(row)}
              <ChangeChip card={verdict.card} suffers={verdict.suffers} />
            </div>
          );
        },
      };
    if (!JUDGED[kind].has(column.key)) return column;
    return { ...column, cell: (row) => column.cell(verdicts.get(nameOf(row))?.since ?? row) };
  });
}
