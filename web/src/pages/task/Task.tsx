import { getRouteApi } from "@tanstack/react-router";
import { count, durationMs, percent } from "../../model/format";
import type { TaskDetail, TaskRow } from "../../model/types";
import { PER_MINUTE_WORDS, PERCENTILE_WORDS } from "../../model/words";
import { Estimated } from "../../parts/Estimated";
import { occurrenceColumns } from "../../parts/occurrenceColumns";
import type { StatItem } from "../../parts/Page";
import { EntityName } from "../entities/EntityName";

const route = getRouteApi("/p/$pid/tasks/$name");
const COLUMNS = occurrenceColumns<TaskRow>();

export function TaskPage() {
  const { name } = route.useParams();
  return (
    <EntityName
      kind="task"
      name={name}
      mono
      search={route.useSearch()}
      columns={COLUMNS}
      rowsTitle="Runs"
      about="Each run of this task is listed here and opens as a trace."
      stats={numbers}
    />
  );
}

function numbers({ stats }: TaskDetail): StatItem[] {
  const any = (value: number) => (stats.count > 0 ? value : null);
  return [
    { label: "Runs", value: <Estimated of={stats} /> },
    { label: "Per minute", value: count(any(stats.throughput)), help: PER_MINUTE_WORDS },
    { label: "Usual (p50)", value: durationMs(any(stats.medianDuration)), help: PERCENTILE_WORDS.p50 },
    { label: "Slow (p95)", value: durationMs(any(stats.p95Duration)), help: PERCENTILE_WORDS.p95 },
    { label: "Slowest (p99)", value: durationMs(any(stats.p99Duration)), help: PERCENTILE_WORDS.p99 },
    { label: "Failed", value: percent(any(stats.errorRate)), tone: stats.errorRate >= 0.01 ? "error" : undefined },
  ];
}
