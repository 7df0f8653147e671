import type { GroupOrder } from "../../api/entities";
import { durationNs } from "../../model/format";
import type { Span } from "../../model/range";
import type { TaskGroup } from "../../model/types";
import type { Column } from "../../parts/DataTable";
import { NonRootChip } from "../../parts/EntityChips";
import { countColumn, ErrorRate, lastColumn, NameLink, percentileColumn, trendColumn } from "./columns";

export function taskColumns(span: Span): Column<TaskGroup, GroupOrder<"task">>[] {
  return [
    {
      key: "name",
      head: "Task",
      sort: "task_name",
      ascFirst: true,
      card: "main",
      cell: (row) => (
        <NameLink kind="task" name={row.taskName} mono>
          {row.hasNonRoot && <NonRootChip some={row.hasRoot} />}
        </NameLink>
      ),
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
    countColumn("Runs"),
    {
      key: "errors",
      head: "Failed",
      sort: "error_rate",
      num: true,
      width: "76px",
      cell: (row) => <ErrorRate errors={row.errorCount} all={row.count} />,
    },
    percentileColumn("p50", "96px"),
    percentileColumn("p95", "96px"),
    percentileColumn("p99", "104px", { onCards: false }),
    trendColumn(span, "Runs", "little"),
    lastColumn("88px", "little"),
  ];
}
