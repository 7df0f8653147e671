import { getRouteApi } from "@tanstack/react-router";
import { Wrench } from "lucide-react";
import type { GroupOrder } from "../../api/entities";
import type { AiGroup } from "../../api/types";
import { count, plural, usd } from "../../model/format";
import type { Span } from "../../model/range";
import type { Column } from "../../parts/DataTable";
import { NonRootChip } from "../../parts/EntityChips";
import { usePatchSearch } from "../../parts/listSearch";
import type { AiSearch } from "../../router";
import { Breakable } from "../../ui/Breakable";
import { Chip } from "../../ui/Chip";
import { Segmented } from "../../ui/Segmented";
import { countColumn, ErrorRate, lastColumn, NameLink, percentileColumn, trendColumn } from "../entities/columns";
import { EntityList } from "../entities/EntityList";
import { ConversationCalls } from "./ConversationCalls";
import { Cost } from "./Cost";

const route = getRouteApi("/p/$pid/ai");
export function AiPage() {
  const search = route.useSearch();
  return search.conversation ? <ConversationCalls id={search.conversation} /> : <Ranking search={search} />;
}

const SUBS = {
  model: "Calls to language models, the most expensive first.",
  tool: "Tools that models had run.",
  all: "Calls to language models and runs of their tools, the most expensive first.",
};

function Ranking({ search }: { search: AiSearch }) {
  const patch = usePatchSearch();
  const calls = search.calls ?? "model";
  return (
    <EntityList
      kind="aiTrace"
      title="AI traces"
      sub={SUBS[calls]}
      what="AI traces"
      noun="names"
      about="Spans with gen_ai attributes become rows here, with model, tokens and cost."
      search={search}
      columns={aiColumns}
      fallback={{ by: "total_cost", desc: true }}
      nameOf={(row) => row.traceName}
      body={{ calls }}
      calls={calls}
      isFiltered={!!search.calls}
      cleared={{ calls: undefined }}
      shows={(column) => calls !== "tool" || !MODEL_CALL_COLUMNS.has(column)}
      filters={
        <Segmented
          label="Which traces"
          value={calls}
          options={[
            { value: "model", label: "Model calls" },
            { value: "tool", label: "Tool runs" },
            { value: "all", label: "Both" },
          ]}
          onChange={(value) => patch({ calls: value === "model" ? undefined : value })}
        />
      }
    />
  );
}

function Name({ row }: { row: AiGroup }) {
  return (
    <NameLink kind="aiTrace" name={row.traceName} text={<Breakable name={row.traceName} />}>
      {row.models?.slice(0, 3).map((model) => (
        <span key={model} className="chip font-mono">
          {model}
        </span>
      ))}
      {row.hasNonRoot && <NonRootChip some={row.hasRoot} />}
      {row.toolCount > 0 && (
        <Chip icon={<Wrench size={11} aria-hidden />} tip="Runs of a tool that a model asked for: no tokens, no cost.">
          {row.toolCount < row.count ? `${count(row.toolCount)} tool runs` : "tool"}
        </Chip>
      )}
      {row.unpricedCount > 0 && (
        <Chip tone="warn" tip="No price is known for the model of these calls, so they are missing from the cost.">
          {plural(row.unpricedCount, "call")} unpriced
        </Chip>
      )}
    </NameLink>
  );
}

/** Columns that do not apply to tool runs. */
const MODEL_CALL_COLUMNS = new Set(["cost", "per", "tokens", "in"]);

function aiColumns(span: Span): Column<AiGroup, GroupOrder<"aiTrace">>[] {
  return [
    { key: "name", head: "Name", sort: "trace_name", ascFirst: true, card: "main", cell: (row) => <Name row={row} /> },
    {
      key: "cost",
      head: "Cost",
      sort: "total_cost",
      num: true,
      width: "96px",
      cell: (row) => <Cost value={row.totalCost} estimated={row.estimatedCost} />,
    },
    {
      key: "per",
      head: "Per call",
      num: true,
      width: "84px",
      card: "hide",
      cell: (row) =>
        usd(
          row.totalCost === null || !row.count
            ? null
            : row.totalCost / Math.max(1, row.count - row.toolCount - row.unpricedCount),
        ),
    },
    countColumn("Calls"),
    {
      key: "tokens",
      head: "Tokens",
      sort: "total_tokens",
      num: true,
      width: "80px",
      cell: (row) => count(row.totalTokens),
    },
    {
      key: "in",
      head: "In / out per call",
      num: true,
      width: "124px",
      card: "hide",
      className: "max-lg:hidden text-ink2",
      cell: (row) =>
        `${count(row.avgInputTokens === null ? null : Math.round(row.avgInputTokens))} / ${count(row.avgOutputTokens === null ? null : Math.round(row.avgOutputTokens))}`,
    },
    {
      key: "errors",
      head: "Failed",
      num: true,
      width: "76px",
      cell: (row) => <ErrorRate errors={row.errorCount} all={row.count} />,
    },
    percentileColumn("p50", "92px", { onCards: false }),
    percentileColumn("p95", "92px"),
    trendColumn(span, "Calls", "xl"),
    lastColumn("88px"),
  ];
}
