import { getRouteApi } from "@tanstack/react-router";
import type { AiList } from "../../api/types";
import { count, durationMs, percent, usd } from "../../model/format";
import type { StatItem } from "../../parts/Page";
import { CALL_COLUMNS } from "../ai/callColumns";
import { EntityName } from "../entities/EntityName";

const route = getRouteApi("/p/$pid/ai/$name");

export function AiNamePage() {
  const { name } = route.useParams();
  return (
    <EntityName
      kind="aiTrace"
      name={name}
      search={route.useSearch()}
      columns={CALL_COLUMNS}
      fallback="total_cost"
      rowsTitle="Calls"
      about="Each call of this name is listed here with its conversation."
      stats={numbers}
    />
  );
}

function numbers({ stats }: AiList): StatItem[] {
  const ofModels: StatItem[] = [
    { label: "Model calls", value: count(stats.count - stats.toolCount) },
    { label: "Cost", value: usd(stats.totalCost) },
    { label: "Tokens", value: count(stats.totalTokens) },
  ];
  return [
    ...(stats.toolCount < stats.count || !stats.count ? ofModels : []),
    ...(stats.toolCount ? [{ label: "Tool runs", value: count(stats.toolCount) }] : []),
    { label: "Average", value: durationMs(stats.count ? stats.avgDuration : null) },
    { label: "Slow (p95)", value: durationMs(stats.count ? stats.p95Duration : null) },
    {
      label: "Failed",
      value: percent(stats.count ? stats.errorRate : null),
      tone: (stats.errorRate ?? 0) >= 0.01 ? "error" : undefined,
    },
  ];
}
