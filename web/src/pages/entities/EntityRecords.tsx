// The issues and the log records of an endpoint, a task or an AI trace.
import { Link } from "@tanstack/react-router";
import { ENTITIES, type EntityKind } from "../../api/entities";
import { usePost, useProjectId } from "../../api/hooks";
import { useRange } from "../../api/range";
import type { OrderOf, PostRoutes } from "../../api/routes";
import { count, plural } from "../../model/format";
import { equals, oneOfTraces } from "../../model/query";
import type { IssueGroup } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { type Column, DataTable } from "../../parts/DataTable";
import { Estimated } from "../../parts/Estimated";
import { IssueTitle } from "../../parts/IssueCells";
import { LogList } from "../../parts/LogList";
import { Section } from "../../parts/Page";
import { QueryView, SkeletonRows } from "../../parts/states";

const ISSUES = 5;
/** Failed AI traces whose issues are looked for: a query has at most 64 terms. */
const FAILED = 50;

const ISSUE_COLUMNS: Column<IssueGroup, OrderOf<"/api/exception-stack-traces">>[] = [
  { key: "title", head: "Issue", card: "main", cell: (row) => <IssueTitle row={row} /> },
  { key: "count", head: "Events", num: true, width: "76px", cell: (row) => <Estimated of={row} /> },
  { key: "first", head: "New", num: true, width: "92px", cell: (row) => <Ago at={row.firstOccurrence} /> },
  { key: "last", head: "Last seen", num: true, width: "92px", cell: (row) => <Ago at={row.lastSeen} /> },
];

/** Issues that the endpoint or task owns; of AI traces, those in the traces of the latest failed ones. */
export function EntityIssues({ kind, name }: { kind: EntityKind; name: string }) {
  const pid = useProjectId();
  const { body } = useRange();
  const isAi = kind === "aiTrace";
  const failed = usePost(
    ENTITIES.aiTrace.rows,
    { ...body, query: "error:true", orderBy: "recorded_at", pagination: { page: 1, pageSize: FAILED } },
    { query: { [ENTITIES.aiTrace.field]: name }, enabled: isAi },
  );
  const traces = [...new Set((failed.data?.data ?? []).map((row) => row.traceId))];
  const query = isAi ? oneOfTraces(traces) : equals("owner", name);
  const list = usePost(
    "/api/exception-stack-traces",
    { ...body, query, orderBy: "count", includeArchived: true, pagination: { page: 1, pageSize: ISSUES } },
    { enabled: !isAi || traces.length > 0 },
  );
  if (isAi && failed.data && !traces.length) return null;
  return (
    <Section
      title="Issues"
      flush
      actions={
        <Link to="/p/$pid/issues" params={{ pid }} search={{ q: query, state: "all" } as never} className="link">
          All its issues
        </Link>
      }
    >
      <QueryView query={list} skeleton={<SkeletonRows rows={2} />}>
        {(page) =>
          page.data?.length ? (
            <>
              <DataTable
                label="Issues"
                columns={ISSUE_COLUMNS}
                rows={page.data}
                rowKey={(row) => row.exceptionHash}
                rowClass={(row) => (row.state === "archived" ? "opacity-70" : "")}
              />
              {(isAi || page.pagination.total > ISSUES) && (
                <p className="border-line border-t px-3 py-2 text-dense text-ink2">
                  {page.pagination.total > ISSUES && `${ISSUES} of ${plural(page.pagination.total, "issue")}. `}
                  {isAi && `In the traces of the latest ${plural(traces.length, "failed call")}.`}
                </p>
              )}
            </>
          ) : (
            <p className="p-3 text-ink2">No exception occurred here in this time range.</p>
          )
        }
      </QueryView>
    </Section>
  );
}

interface LogsProps {
  entity: PostRoutes["/api/logs/of-entity"]["body"]["entity"];
  name: string;
  where?: string;
}

/** The latest log records in the traces of the latest rows. */
export function EntityLogs({ entity, name, where }: LogsProps) {
  const pid = useProjectId();
  const { body } = useRange();
  const query = usePost("/api/logs/of-entity", { ...body, entity, name, query: where });
  const traces = [...new Set((query.data?.data ?? []).map((row) => row.traceId))];
  return (
    <Section
      title="Logs"
      flush
      actions={
        traces.length > 0 && (
          <Link to="/p/$pid/logs" params={{ pid }} search={{ q: oneOfTraces(traces) } as never} className="link">
            Open in Logs
          </Link>
        )
      }
    >
      <QueryView query={query} skeleton={<SkeletonRows rows={3} />}>
        {({ data, total, rows, searched }) => (
          <>
            {data.length > 0 ? (
              <div className="flex max-h-80 flex-col">
                <LogList rows={data} total={data.length} label={`Latest logs of ${name}`} withDate />
              </div>
            ) : (
              <p className="p-3 text-ink2">No log record has a trace of these.</p>
            )}
            <p className="border-line border-t px-3 py-2 text-dense text-ink2">
              {total > data.length && `The latest ${data.length} of ${plural(total, "record")}. `}
              {searched < rows
                ? `The traces of the latest ${count(searched)} of ${plural(rows, "row")} were searched.`
                : `The traces of ${plural(rows, "row")} were searched.`}
            </p>
          </>
        )}
      </QueryView>
    </Section>
  );
}
