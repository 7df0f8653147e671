import { getRouteApi } from "@tanstack/react-router";
import { ApiError } from "../../api/client";
import { usePost } from "../../api/hooks";
import type { TaskDetail, TaskRow } from "../../api/types";
import { count, durationMs, percent } from "../../model/format";
import { PER_MINUTE_WORDS, PERCENTILE_WORDS } from "../../model/words";
import { DataTable } from "../../parts/DataTable";
import { useListBody } from "../../parts/listSearch";
import { NeverSeen } from "../../parts/NeverSeen";
import { NoData } from "../../parts/NoData";
import { occurrenceColumns } from "../../parts/occurrenceColumns";
import { PageHead, Section, Stats } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { QueryView, SkeletonRows } from "../../parts/states";
import { SharedCursor } from "../../viz/cursor";
import { CallsChart } from "../endpoint/CallsChart";
import { DurationChart } from "../endpoint/DurationChart";

const route = getRouteApi("/p/$pid/tasks/$name");

export function TaskPage() {
  const { name } = route.useParams();
  const search = route.useSearch();
  const { sort, body } = useListBody(search, ["duration", "recorded_at"] as const, { by: "duration", desc: true }, 25);
  const query = usePost("/api/tasks/task", body, { query: { task: name } });
  if (query.error instanceof ApiError && query.error.status === 404) return <NeverSeen what="task" name={name} />;
  return (
    <>
      <PageHead title={name} mono />
      <div className="space-y-4 px-4 pb-6">
        <QueryView query={query} skeleton={<SkeletonRows rows={2} />}>
          {({ stats }) => <Numbers stats={stats} />}
        </QueryView>
        <SharedCursor>
          <div className="grid gap-4 xl:grid-cols-2">
            <DurationChart kind="task" name={name} />
            <CallsChart kind="task" name={name} />
          </div>
        </SharedCursor>
        <Section title="Runs" flush>
          <QueryView query={query}>
            {(detail) =>
              detail.data?.length ? (
                <>
                  <DataTable
                    label="Runs"
                    columns={occurrenceColumns<TaskRow>(false)}
                    rows={detail.data}
                    rowKey={(row) => row.id}
                    sort={sort}
                  />
                  <Pager pagination={detail.pagination} noun="runs" />
                </>
              ) : (
                <NoData what="runs" about="Each run of this task is listed here and opens as a trace." />
              )
            }
          </QueryView>
        </Section>
      </div>
    </>
  );
}

function Numbers({ stats }: { stats: TaskDetail["stats"] }) {
  const any = (value: number) => (stats.count > 0 ? value : null);
  return (
    <Stats
      items={[
        { label: "Runs", value: count(stats.count) },
        { label: "Per minute", value: count(any(stats.throughput)), help: PER_MINUTE_WORDS },
        { label: "Usual (p50)", value: durationMs(any(stats.medianDuration)), help: PERCENTILE_WORDS.p50 },
        { label: "Slow (p95)", value: durationMs(any(stats.p95Duration)), help: PERCENTILE_WORDS.p95 },
        { label: "Slowest (p99)", value: durationMs(any(stats.p99Duration)), help: PERCENTILE_WORDS.p99 },
        {
          label: "Failed",
          value: percent(any(stats.errorRate)),
          tone: stats.errorRate >= 0.01 ? "error" : undefined,
        },
      ]}
    />
  );
}
