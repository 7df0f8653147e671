import { getRouteApi } from "@tanstack/react-router";
import { ApiError } from "../../api/client";
import { usePost } from "../../api/hooks";
import { count, durationMs, percent, usd } from "../../model/format";
import { DataTable } from "../../parts/DataTable";
import { useListBody } from "../../parts/listSearch";
import { NeverSeen } from "../../parts/NeverSeen";
import { NoData } from "../../parts/NoData";
import { PageHead, Section, Stats } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { QueryView, SkeletonRows } from "../../parts/states";
import { CALL_COLUMNS } from "../ai/callColumns";

const route = getRouteApi("/p/$pid/ai/$name");
const SORTS = ["total_cost", "recorded_at", "duration", "total_tokens"] as const;

export function AiNamePage() {
  const { name } = route.useParams();
  const search = route.useSearch();
  const { sort, body } = useListBody(search, SORTS, { by: "total_cost", desc: true }, 25);
  const query = usePost("/api/ai-traces/trace", body, { query: { trace: name } });
  if (query.error instanceof ApiError && query.error.status === 404) return <NeverSeen what="AI trace" name={name} />;
  return (
    <>
      <PageHead title={name} />
      <div className="space-y-4 px-4 pb-6">
        <QueryView query={query} skeleton={<SkeletonRows rows={2} />}>
          {({ stats }) => (
            <Stats
              items={[
                ...(stats.toolCount < stats.count || !stats.count
                  ? [
                      { label: "Model calls", value: count(stats.count - stats.toolCount) },
                      { label: "Cost", value: usd(stats.totalCost) },
                      { label: "Tokens", value: count(stats.totalTokens) },
                    ]
                  : []),
                ...(stats.toolCount ? [{ label: "Tool runs", value: count(stats.toolCount) }] : []),
                { label: "Average", value: durationMs(stats.count ? stats.avgDuration : null) },
                { label: "Slow (p95)", value: durationMs(stats.count ? stats.p95Duration : null) },
                {
                  label: "Failed",
                  value: percent(stats.count ? stats.errorRate : null),
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
                  <DataTable
                    label="Calls"
                    columns={CALL_COLUMNS}
                    rows={list.data}
                    rowKey={(row) => row.id}
                    sort={sort}
                  />
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
