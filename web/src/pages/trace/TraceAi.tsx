import { Link } from "@tanstack/react-router";
import { useProjectId } from "../../api/hooks";
import { count, durationNs, NONE, usd } from "../../model/format";
import { exactTime } from "../../model/time";
import type { TraceColumns } from "../../model/types";
import { type Column, DataTable } from "../../parts/DataTable";
import { Empty } from "../../parts/states";
import { SearchLink } from "../../ui/SearchLink";

type Row = TraceColumns["aiTraces"][number];

const tokens = (value: number | null | undefined) => (value === null || value === undefined ? NONE : count(value));

/** Model calls, agent steps and runs of tools in this trace. */
export function TraceAi({ answer }: { answer: TraceColumns }) {
  const pid = useProjectId();
  const columns: Column<Row>[] = [
    {
      key: "name",
      head: "AI trace",
      card: "main",
      cell: (row) => (
        <Link
          to="/p/$pid/ai/t/$rowId"
          params={{ pid: row.projectId || pid, rowId: row.id }}
          search={{ at: row.recordedAt }}
          data-row-link
          className="row-link font-medium"
        >
          {row.traceName}
        </Link>
      ),
    },
    { key: "model", head: "Model", cell: (row) => row.responseModel || row.model || NONE },
    { key: "input", head: "Input tokens", num: true, cell: (row) => tokens(row.inputTokens) },
    { key: "output", head: "Output tokens", num: true, cell: (row) => tokens(row.outputTokens) },
    { key: "cost", head: "Cost", num: true, cell: (row) => usd(row.totalCost) },
    { key: "duration", head: "Duration", num: true, cell: (row) => durationNs(row.duration) },
    { key: "start", head: "Started", num: true, className: "text-ink2", cell: (row) => exactTime(row.recordedAt) },
    {
      key: "span",
      head: "Span",
      cell: (row) => (
        <SearchLink change={{ tab: undefined, span: row.spanId }} className="link over-row">
          in the waterfall
        </SearchLink>
      ),
    },
  ];
  if (!answer.aiTraces.length)
    return (
      <Empty title="No AI traces in this trace">
        Model calls, agent steps and runs of tools show here: spans with gen_ai attributes.
      </Empty>
    );
  return (
    <div className="min-h-0 flex-1 overflow-y-auto p-4">
      <div className="panel overflow-x-auto">
        <DataTable label="AI traces of this trace" columns={columns} rows={answer.aiTraces} rowKey={(row) => row.id} />
      </div>
    </div>
  );
}
