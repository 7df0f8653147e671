import { getRouteApi, Link } from "@tanstack/react-router";
import { usePost, useProjectId } from "../../api/hooks";
import type { AiRow } from "../../api/types";
import { count, durationMs, durationNs, NONE, percent, usd } from "../../model/format";
import { exactTime } from "../../model/time";
import { type Column, DataTable } from "../../parts/DataTable";
import { NonRootChip } from "../../parts/EntityChips";
import { useListBody } from "../../parts/listSearch";
import { NoData } from "../../parts/NoData";
import { PageHead, Section, Stats } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { QueryView, SkeletonRows } from "../../parts/states";
import { Chip } from "../../ui/Chip";
import { Cost } from "../ai/Cost";

const route = getRouteApi("/p/$pid/ai/$name");
const SORTS = ["total_cost", "recorded_at", "duration", "total_tokens"] as const;

export function AiNamePage() {
  const { name } = route.useParams();
  const search = route.useSearch();
  const { sort, body } = useListBody(search, SORTS, { by: "total_cost", desc: true }, 25);
  const query = usePost("/api/ai-traces/trace", body, { query: { trace: name } });
  return (
    <>
      <PageHead title={name} />
      <div className="space-y-4 px-4 pb-6">
        <QueryView query={query} skeleton={<SkeletonRows rows={2} />}>
          {({ stats }) => (
            <Stats
              items={[
                { label: "Calls", value: count(stats.count) },
                { label: "Cost", value: usd(stats.totalCost) },
                { label: "Tokens", value: count(stats.totalTokens) },
                { label: "Average", value: durationMs(stats.avgDuration) },
                { label: "Slow (p95)", value: durationMs(stats.p95Duration) },
                {
                  label: "Failed",
                  value: percent(stats.errorRate),
                  tone: (stats.errorRate ?? 0) >= 0.01 ? "error" : undefined,
                },
              ]}
            />
          )}
        </QueryView>
        <Section title="Calls" flush>
          <QueryView query={query}>
            {(list) =>
              list.data?.length ? (
                <>
                  <DataTable label="Calls" columns={COLUMNS} rows={list.data} rowKey={(row) => row.id} sort={sort} />
                  <Pager pagination={list.pagination} noun="calls" />
                </>
              ) : (
                <NoData what="calls" about="Each call of this name is listed here with its conversation." />
              )
            }
          </QueryView>
        </Section>
      </div>
    </>
  );
}

function When({ row }: { row: AiRow }) {
  const pid = useProjectId();
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      <Link
        to="/p/$pid/ai/t/$rowId"
        params={{ pid, rowId: row.id }}
        search={{ at: row.recordedAt }}
        data-row-link
        className="row-link font-medium"
      >
        {exactTime(row.recordedAt).replace(/(\.\d{3})\d+$/, "$1")}
      </Link>
      <span className="over-row flex gap-1">
        {!row.isRoot && <NonRootChip />}
        {row.isError && <Chip tone="error">failed</Chip>}
        {row.toolCallCount > 0 && <Chip tip={row.toolNames?.join(", ")}>{row.toolCallCount} tool calls</Chip>}
      </span>
    </span>
  );
}

const COLUMNS: Column<AiRow>[] = [
  { key: "time", head: "Time", sort: "recorded_at", card: "main", cell: (row) => <When row={row} /> },
  {
    key: "model",
    head: "Model",
    className: "font-mono text-dense",
    card: "half",
    cell: (row) => row.model || row.responseModel || NONE,
  },
  {
    key: "cost",
    head: "Cost",
    sort: "total_cost",
    num: true,
    width: "96px",
    cell: (row) => <Cost value={row.totalCost} estimated={row.costEstimated} />,
  },
  { key: "in", head: "In", num: true, width: "76px", help: "Input tokens", cell: (row) => count(row.inputTokens) },
  { key: "out", head: "Out", num: true, width: "76px", help: "Output tokens", cell: (row) => count(row.outputTokens) },
  {
    key: "cached",
    head: "Cached",
    num: true,
    width: "76px",
    card: "hide",
    help: "Input tokens read from the provider's cache",
    cell: (row) => count(row.cachedTokens),
  },
  {
    key: "duration",
    head: "Duration",
    sort: "duration",
    num: true,
    width: "96px",
    cell: (row) => durationNs(row.duration),
  },
  {
    key: "finish",
    head: "Ended",
    className: "text-ink2",
    card: "hide",
    cell: (row) =>
      row.finishReason === "max_tokens" || row.finishReason === "length" ? (
        <Chip tone="warn">cut off</Chip>
      ) : (
        row.finishReason || NONE
      ),
  },
  { key: "user", head: "User", className: "text-ink2 max-lg:hidden", card: "hide", cell: (row) => row.userId || NONE },
];
