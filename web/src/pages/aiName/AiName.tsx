import { getRouteApi } from "@tanstack/react-router";
import type { Counted } from "../../model/estimate";
import { count, durationMs, NONE, percent, usd } from "../../model/format";
import type { AiList } from "../../model/types";
import { CALL_COLUMNS } from "../../parts/ai/callColumns";
import { Estimated } from "../../parts/Estimated";
import type { StatItem } from "../../parts/Page";
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
      first={{ label: "Costliest", by: "total_cost" }}
      rowsTitle="Calls"
      about="Each call of this name is listed here with its conversation."
      stats={numbers}
    />
  );
}

const approximately = (of: Counted, words: string) => (words === NONE ? words : <Estimated of={of}>{words}</Estimated>);

function numbers({ stats }: AiList): StatItem[] {
  const ofModels: StatItem[] = [
    { label: "Model calls", value: approximately(stats, count(stats.count - stats.toolCount)) },
    { label: "Cost", value: approximately(stats, usd(stats.totalCost)) },
    { label: "Tokens", value: approximately(stats, count(stats.totalTokens)) },
  ];
  return [
    ...(stats.toolCount < stats.count || !stats.count ? ofModels : []),
    ...(stats.toolCount ? [{ label: "Tool runs", value: approximately(stats, count(stats.toolCount)) }] : []),
    { label: "Average", value: durationMs(stats.count ? stats.avgDuration : null) },
    { label: "Slow (p95)", value: durationMs(stats.count ? stats.p95Duration : null) },
    {
      label: "Failed",
      value: percent(stats.count ? stats.errorRate : null),
      tone: (stats.errorRate ?? 0) >= 0.01 ? "error" : undefined,
    },
  ];
}
