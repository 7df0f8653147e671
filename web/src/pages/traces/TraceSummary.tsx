// The summary of one trace in the drawer of the list: statistics, time by service, the longest spans.
import { usePost } from "../../api/hooks";
import { useRange } from "../../api/range";
import { count, durationNs, percent, plural } from "../../model/format";
import { exactTime } from "../../model/time";
import type { Span, TraceRow } from "../../model/types";
import { type Column, DataTable } from "../../parts/DataTable";
import { TraceLink } from "../../parts/occurrenceColumns";
import { Section, Stats } from "../../parts/Page";
import { QueryView, SkeletonRows } from "../../parts/states";
import { spanColumns } from "./columns";

const LONGEST = 8;
const SHOWN = new Set(["name", "service", "duration"]);

export function TraceSummary({ row }: { row: TraceRow }) {
  const { body } = useRange();
  const spans = usePost("/api/spans", {
    ...body,
    traceId: row.traceId,
    orderBy: "duration",
    sortDirection: "desc",
    pagination: { page: 1, pageSize: LONGEST },
  });
  return (
    <>
      <Stats
        items={[
          { label: "Duration", value: durationNs(row.duration) },
          { label: "Spans", value: count(row.spans) },
          { label: "Errors", value: count(row.errors), tone: row.errors ? "error" : undefined },
          { label: "Services", value: count(row.services.length) },
        ]}
      />
      <p className="text-ink2">Started {exactTime(row.startTime).replace(/(\.\d{3})\d+$/, "$1")}</p>
      <Section title="Time by service">
        <ul className="space-y-2">
          {row.services.map((one) => (
            <li key={one.service}>
              <p className="flex flex-wrap gap-x-3">
                {one.service || "no service name"}
                <span className="num ml-auto text-dense">
                  {percent(one.share)} <span className="text-ink2">· {plural(one.spans, "span")}</span>
                </span>
              </p>
              <span aria-hidden className="block h-2 rounded-[2px] bg-hover">
                <span className="block h-full rounded-[2px] bg-(--c1)" style={{ width: `${one.share * 100}%` }} />
              </span>
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Longest spans" flush>
        <QueryView query={spans} skeleton={<SkeletonRows rows={4} />}>
          {(page) => (
            <DataTable
              label="Longest spans"
              columns={columnsOf(page.data ?? [])}
              rows={page.data ?? []}
              rowKey={(span) => span.spanId}
            />
          )}
        </QueryView>
      </Section>
    </>
  );
}

function columnsOf(rows: Span[]): Column<Span>[] {
  return spanColumns(rows)
    .filter((column) => SHOWN.has(column.key))
    .map((column) => ({ ...column, sort: undefined }));
}

export function TracePageLink({ row }: { row: TraceRow }) {
  return (
    <TraceLink traceId={row.traceId} at={row.startTime} className="btn btn-primary">
      Open the trace
    </TraceLink>
  );
}
