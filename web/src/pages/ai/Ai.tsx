import { getRouteApi, Link } from "@tanstack/react-router";
import { Wrench } from "lucide-react";
import { usePost, useProjectId } from "../../api/hooks";
import type { AiGroup } from "../../api/types";
import { count, durationNs, plural, usd } from "../../model/format";
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
import type { AiSearch } from "../../router";
import { Breakable } from "../../ui/Breakable";
import { Chip } from "../../ui/Chip";
import { SearchBox } from "../../ui/SearchBox";
import { Segmented } from "../../ui/Segmented";
import { Sparkline } from "../../viz/Sparkline";
import { ErrorRate } from "../endpoints/columns";
import { EntityChart } from "../endpoints/EntityChart";
import { ConversationCalls } from "./ConversationCalls";
import { Cost } from "./Cost";

const route = getRouteApi("/p/$pid/ai");
const SORTS = [
  "total_cost",
  "count",
  "total_tokens",
  "p50_duration",
  "p95_duration",
  "last_seen",
  "trace_name",
] as const;

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
  const { span } = useRange();
  const calls = search.calls ?? "model";
  const { sort, body } = useListBody(search, SORTS, { by: "total_cost", desc: true });
  const list = usePost("/api/ai-traces/grouped", { ...body, calls });
  return (
    <>
      <PageHead title="AI traces" sub={SUBS[calls]} />
      <div className="px-4 pb-4">
        <EntityChart
          kind="ai"
          calls={calls}
          metric={search.metric}
          onMetric={(metric) => patch({ metric, page: search.page }, true)}
        />
      </div>
      <Toolbar>
        <SearchBox
          label="Search AI traces"
          placeholder="Search by name"
          value={search.q ?? ""}
          onSearch={(q) => patch({ q: q || undefined }, true)}
        />
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
      </Toolbar>
      <div className="panel mx-4 mb-6 overflow-x-auto">
        <QueryView query={list}>
          {(page) =>
            page.data?.length ? (
              <>
                <DataTable
                  label={`AI traces, ${plural(page.pagination.total, "name")}`}
                  columns={columns(span).filter((one) => calls !== "tool" || !OF_MODELS.has(one.key))}
                  rows={page.data}
                  rowKey={(row) => row.traceName}
                  sort={sort}
                />
                <Pager pagination={page.pagination} noun="names" />
              </>
            ) : (
              <NoData
                what="AI traces"
                about="Spans with gen_ai attributes become rows here, with model, tokens and cost."
                filtered={!!(search.q || search.calls)}
                onClear={() => patch({ q: undefined, calls: undefined })}
              />
            )
          }
        </QueryView>
      </div>
    </>
  );
}

function Name({ row }: { row: AiGroup }) {
  const pid = useProjectId();
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5">
      <Link
        to="/p/$pid/ai/$name"
        params={{ pid, name: row.traceName }}
        data-row-link
        className="row-link font-medium [overflow-wrap:anywhere]"
      >
        <Breakable name={row.traceName} />
      </Link>
      <span className="over-row flex flex-wrap gap-1">
        {row.models?.slice(0, 3).map((model) => (
          <span key={model} className="chip font-mono">
            {model}
          </span>
        ))}
        {row.hasNonRoot && <NonRootChip some={row.hasRoot} />}
        {row.toolCount > 0 && (
          <Chip
            icon={<Wrench size={11} aria-hidden />}
            tip="Runs of a tool that a model asked for: no tokens, no cost."
          >
            {row.toolCount < row.count ? `${count(row.toolCount)} tool runs` : "tool"}
          </Chip>
        )}
        {row.unpricedCount > 0 && (
          <Chip tone="warn" tip="No price is known for the model of these calls, so they are missing from the cost.">
            {plural(row.unpricedCount, "call")} unpriced
          </Chip>
        )}
      </span>
    </div>
  );
}

/** Columns that say nothing of runs of tools. */
const OF_MODELS = new Set(["cost", "per", "tokens", "in"]);

function columns(span: Span): Column<AiGroup>[] {
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
    { key: "count", head: "Calls", sort: "count", num: true, width: "72px", cell: (row) => count(row.count) },
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
    {
      key: "p50",
      head: "Usual p50",
      sort: "p50_duration",
      num: true,
      width: "92px",
      card: "hide",
      help: PERCENTILE_WORDS.p50,
      cell: (row) => durationNs(row.p50Duration),
    },
    {
      key: "p95",
      head: "Slow p95",
      sort: "p95_duration",
      num: true,
      width: "92px",
      help: PERCENTILE_WORDS.p95,
      cell: (row) => durationNs(row.p95Duration),
    },
    {
      key: "trend",
      head: "Calls over time",
      width: "112px",
      card: "half",
      className: "max-xl:hidden max-sm:block",
      cell: (row) => <Sparkline points={row.trend} span={span} label="Calls" />,
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
