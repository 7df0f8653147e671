// The summary of one name in the drawer of a list: statistics, a chart, the latest samples.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ENTITIES, type EntityKind } from "../../api/entities";
import { usePost, useProjectId } from "../../api/hooks";
import { useRange } from "../../api/range";
import type { Counted } from "../../model/estimate";
import { durationMs, percent, usd } from "../../model/format";
import { allOf, equals } from "../../model/query";
import type { AiRow, Occurrence } from "../../model/types";
import { CALL_COLUMNS } from "../../parts/ai/callColumns";
import { type Column, DataTable } from "../../parts/DataTable";
import { Estimated } from "../../parts/Estimated";
import { SinceNote } from "../../parts/OpenChange";
import { occurrenceColumns, statusColumn } from "../../parts/occurrenceColumns";
import { Section, type StatItem, Stats } from "../../parts/Page";
import { QueryView, SkeletonRows } from "../../parts/states";
import { ENTITY_PAGES } from "./columns";
import { EntityChart } from "./EntityChart";
import { useSince } from "./openChanges";

const LATEST = 5;
const SHOWN = new Set(["time", "status", "model", "cost", "duration", "version"]);

interface Answer {
  data: (Occurrence | AiRow)[] | null;
  stats: Counted & { medianDuration: number; p95Duration: number; totalCost?: number | null } & {
    errorRate?: number | null;
  };
}

export function EntityPageLink({ kind, name }: { kind: EntityKind; name: string }) {
  const pid = useProjectId();
  return (
    <Link to={ENTITY_PAGES[kind]} params={{ pid, name }} className="btn btn-primary">
      Open the page
    </Link>
  );
}

export function EntitySummary({ kind, name, query }: { kind: EntityKind; name: string; query?: string }) {
  const { body } = useRange();
  const [metric, setMetric] = useState<string | undefined>(undefined);
  const request = { ...body, query, orderBy: "recorded_at", pagination: { page: 1, pageSize: LATEST } };
  const found = usePost(ENTITIES[kind].rows, request as object, { query: { [ENTITIES[kind].field]: name } });
  const since = useSince(kind, name);
  // The cast is sound: the rows are of this kind.
  const columns = (kind === "aiTrace" ? AI_COLUMNS : ROW_COLUMNS) as Column<Occurrence | AiRow>[];
  return (
    <>
      <EntityChart kind={kind} query={allOf(equals("name", name), query)} metric={metric} onMetric={setMetric} />
      <QueryView query={found} skeleton={<SkeletonRows rows={4} />}>
        {(answer) => {
          const { data, stats } = answer as unknown as Answer;
          return (
            <div className="space-y-4">
              <div>
                <Stats items={numbers((since.answer as Answer | undefined)?.stats ?? stats)} />
                {since.change && since.answer && <SinceNote card={since.change.card} />}
              </div>
              <Section title="Latest" flush>
                {data?.length ? (
                  <DataTable label="Latest samples" columns={columns} rows={data} rowKey={(row) => row.id} />
                ) : (
                  <p className="p-3 text-ink2">None in this time range.</p>
                )}
              </Section>
            </div>
          );
        }}
      </QueryView>
    </>
  );
}

/** Columns of a table that is not sorted by its headings. */
function fixed<Row, Order extends string>(columns: Column<Row, Order>[]): Column<Row>[] {
  return columns
    .filter((column) => SHOWN.has(column.key))
    .map((column) => ({ ...column, sort: undefined, className: undefined }));
}

const ROW_COLUMNS: Column<Occurrence>[] = fixed(occurrenceColumns<Occurrence, "status_code">(statusColumn));
const AI_COLUMNS: Column<AiRow>[] = fixed(CALL_COLUMNS);

function numbers(stats: Answer["stats"]): StatItem[] {
  const any = <T,>(value: T) => (stats.count > 0 ? value : null);
  const failed = stats.errorRate ?? 0;
  return [
    { label: "Count", value: <Estimated of={stats} /> },
    { label: "Usual (p50)", value: durationMs(any(stats.medianDuration)) },
    { label: "Slow (p95)", value: durationMs(any(stats.p95Duration)) },
    { label: "Failed", value: percent(any(failed)), tone: failed >= 0.01 ? "error" : undefined },
    ...(stats.totalCost === undefined ? [] : [{ label: "Cost", value: usd(stats.totalCost) }]),
  ];
}
