import { getRouteApi, Link } from "@tanstack/react-router";
import { usePost, useProjectId } from "../../api/hooks";
import type { TaskGroup } from "../../api/types";
import { count, durationNs, plural } from "../../model/format";
import type { Span } from "../../model/range";
import { PERCENTILE_WORDS } from "../../model/words";
import { Ago } from "../../parts/Ago";
import { type Column, DataTable } from "../../parts/DataTable";
import { NonRootChip } from "../../parts/EntityChips";
import { useListBody, usePatchSearch } from "../../parts/listSearch";
import { NoData } from "../../parts/NoData";
import { PageHead, Toolbar } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { useRange } from "../../parts/range";
import { QueryView } from "../../parts/states";
import { SearchBox } from "../../ui/SearchBox";
import { Sparkline } from "../../viz/Sparkline";
import { ErrorRate } from "../endpoints/columns";
import { EntityChart } from "../endpoints/EntityChart";

const route = getRouteApi("/p/$pid/tasks");
const SORTS = [
  "impact",
  "count",
  "p50_duration",
  "p95_duration",
  "p99_duration",
  "last_seen",
  "task_name",
  "error_rate",
] as const;

export function TasksPage() {
  const search = route.useSearch();
  const patch = usePatchSearch();
  const { span } = useRange();
  const { sort, body } = useListBody(search, SORTS, { by: "impact", desc: true });
  const list = usePost("/api/tasks/grouped", body);
  return (
    <>
      <PageHead title="Tasks" sub="Queue jobs and console commands, the most uneven and frequent first." />
      <div className="px-4 pb-4">
        <EntityChart
          kind="tasks"
          metric={search.metric}
          onMetric={(metric) => patch({ metric, page: search.page }, true)}
        />
      </div>
      <Toolbar>
        <SearchBox
          label="Search tasks"
          placeholder="Search by name"
          value={search.q ?? ""}
          onSearch={(q) => patch({ q: q || undefined }, true)}
        />
      </Toolbar>
      <div className="panel mx-4 mb-6 overflow-x-auto">
        <QueryView query={list}>
          {(page) =>
            page.data?.length ? (
              <>
                <DataTable
                  label={`Tasks, ${plural(page.pagination.total, "name")}`}
                  columns={columns(span)}
                  rows={page.data}
                  rowKey={(row) => row.taskName}
                  sort={sort}
                />
                <Pager pagination={page.pagination} noun="tasks" />
              </>
            ) : (
              <NoData
                what="tasks"
                about="Work taken from a queue (CONSUMER spans) and console commands become rows here."
                filtered={!!search.q}
                onClear={() => patch({ q: undefined })}
              />
            )
          }
        </QueryView>
      </div>
    </>
  );
}

function TaskName({ row }: { row: TaskGroup }) {
  const pid = useProjectId();
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5">
      <Link
        to="/p/$pid/tasks/$name"
        params={{ pid, name: row.taskName }}
        data-row-link
        className="row-link font-medium font-mono text-dense [overflow-wrap:anywhere]"
      >
        {row.taskName}
      </Link>
      {row.hasNonRoot && (
        <span className="over-row">
          <NonRootChip some={row.hasRoot} />
        </span>
      )}
    </div>
  );
}

function columns(span: Span): Column<TaskGroup>[] {
  return [
    {
      key: "name",
      head: "Task",
      sort: "task_name",
      ascFirst: true,
      card: "main",
      cell: (row) => <TaskName row={row} />,
    },
    {
      key: "impact",
      head: "Slow time",
      sort: "impact",
      num: true,
      width: "110px",
      help: "Runs x (p95 - p50): the time lost to runs that take longer than usual. This is the default order.",
      cell: (row) => durationNs(row.impact),
    },
    { key: "count", head: "Runs", sort: "count", num: true, width: "72px", cell: (row) => count(row.count) },
    {
      key: "errors",
      head: "Failed",
      sort: "error_rate",
      num: true,
      width: "76px",
      cell: (row) => <ErrorRate errors={row.errorCount} all={row.count} />,
    },
    {
      key: "p50",
      head: "Usual p50",
      sort: "p50_duration",
      num: true,
      width: "96px",
      help: PERCENTILE_WORDS.p50,
      cell: (row) => durationNs(row.p50Duration),
    },
    {
      key: "p95",
      head: "Slow p95",
      sort: "p95_duration",
      num: true,
      width: "96px",
      help: PERCENTILE_WORDS.p95,
      cell: (row) => durationNs(row.p95Duration),
    },
    {
      key: "p99",
      head: "Slowest p99",
      sort: "p99_duration",
      num: true,
      width: "104px",
      card: "hide",
      help: PERCENTILE_WORDS.p99,
      cell: (row) => durationNs(row.p99Duration),
    },
    {
      key: "trend",
      head: "Runs over time",
      width: "112px",
      card: "half",
      className: "max-lg:hidden max-sm:block",
      cell: (row) => <Sparkline points={row.trend} span={span} label="Runs" />,
    },
    {
      key: "last",
      head: "Last seen",
      sort: "last_seen",
      num: true,
      width: "88px",
      card: "hide",
      className: "max-xl:hidden text-ink2",
      cell: (row) => <Ago at={row.lastSeen} />,
    },
  ];
}
