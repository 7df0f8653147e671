import { getRouteApi } from "@tanstack/react-router";
import { usePost } from "../../api/hooks";
import type { TaskRow } from "../../api/types";
import { count, durationMs, percent } from "../../model/format";
import { PERCENTILE_WORDS } from "../../model/words";
import { DataTable } from "../../parts/DataTable";
import { useListBody } from "../../parts/listSearch";
import { NoData } from "../../parts/NoData";
import { occurrenceColumns } from "../../parts/occurrenceColumns";
import { PageHead, Section, Stats } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { QueryView, SkeletonRows } from "../../parts/states";
import { CallsChart } from "../endpoint/CallsChart";
import { DurationChart } from "../endpoint/DurationChart";

const route = getRouteApi("/p/$pid/tasks/$name");

export function TaskPage() {
  const { name } = route.useParams();
  const search = route.useSearch();
  const { sort, body } = useListBody(search, ["duration", "recorded_at"] as const, { by: "duration", desc: true }, 25);
  const query = usePost("/api/tasks/task", body, { query: { task: name } });
  return (
    <>
      <PageHead title={name} mono />
      <div className="space-y-4 px-4 pb-6">
        <QueryView query={query} skeleton={<SkeletonRows rows={2} />}>
          {({ stats }) => (
            <Stats
              items={[
                { label: "Runs", value: count(stats.count) },
                { label: "Per minute", value: count(stats.throughput) },
                { label: "Usual (p50)", value: durationMs(stats.medianDuration), help: PERCENTILE_WORDS.p50 },
                { label: "Slow (p95)", value: durationMs(stats.p95Duration), help: PERCENTILE_WORDS.p95 },
                { label: "Slowest (p99)", value: durationMs(stats.p99Duration), help: PERCENTILE_WORDS.p99 },
                {
                  label: "Failed",
                  value: percent(stats.errorRate),
                  tone: stats.errorRate >= 0.01 ? "error" : undefined,
                },
              ]}
            />
          )}
        </QueryView>
        <div className="grid gap-4 xl:grid-cols-2">
          <DurationChart kind="task" name={name} />
          <CallsChart kind="task" name={name} />
        </div>
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
