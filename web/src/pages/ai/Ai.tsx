import { getRouteApi } from "@tanstack/react-router";
import { Wrench } from "lucide-react";
import type { GroupOrder } from "../../api/entities";
import { useGet } from "../../api/hooks";
import { flagsOf, type Grouping, groupingOf, queryOf } from "../../model/ai";
import { count, plural, usd } from "../../model/format";
import type { Span } from "../../model/range";
import type { AiSearch } from "../../model/telemetry-search";
import type { AiGroup } from "../../model/types";
import { Cost } from "../../parts/ai/Cost";
import type { Column } from "../../parts/DataTable";
import { NonRootChip } from "../../parts/EntityChips";
import { Chip } from "../../ui/Chip";
import { countColumn, ErrorRate, lastColumn, NameLink, percentileColumn, trendColumn } from "../entities/columns";
import { EntityList } from "../entities/EntityList";
import { AiFilters } from "./AiFilters";
import { ConversationTurns } from "./ConversationTurns";
import { FlaggedChip, GroupLink, TokenKinds } from "./cells";
import { ConversationList, UserList } from "./TotalsLists";

const route = getRouteApi("/p/$pid/ai");
export function AiPage() {
  const search = route.useSearch();
  if (search.conversation) return <ConversationTurns id={search.conversation} />;
  if (search.by === "conversation") return <ConversationList search={search} />;
  if (search.by === "user") return <UserList search={search} />;
  return <Ranking search={search} />;
}

const SUBS = {
  model: "Calls to language models, the most expensive first.",
  tool: "Tools that models had run.",
  all: "Calls to language models and runs of their tools, the most expensive first.",
};

/** Prices change with a release or a file of the operator. */
const PRICES_FRESH_MS = 60_000;

function Ranking({ search }: { search: AiSearch }) {
  const calls = search.calls ?? "model";
  const grouping = groupingOf(search.by);
  const flags = flagsOf(search.flag);
  const groupBy = grouping.value;
  const prices = useGet("/api/ai-prices", { freshMs: PRICES_FRESH_MS }).data;
  return (
    <EntityList
      kind="aiTrace"
      title="AI traces"
      sub={`${SUBS[calls]}${prices ? ` Estimated costs use the prices of ${prices.day}.` : ""}`}
      what="AI traces"
      noun={grouping.noun}
      about="Spans with gen_ai attributes become rows here, with model, tokens and cost."
      search={search}
      columns={(span) => aiColumns(span, grouping)}
      fallback={{ by: "total_cost", desc: true }}
      nameOf={(row) => row.traceName}
      body={{ calls, groupBy, flags }}
      chart={{ calls, groupBy, flags, none: grouping.none }}
      incomparable={groupBy !== "name"}
      isFiltered={!!search.calls || !!search.flag}
      cleared={{ calls: undefined, flag: undefined }}
      shows={(column) => calls !== "tool" || !MODEL_CALL_COLUMNS.has(column)}
      filters={<AiFilters search={search} />}
    />
  );
}

/** One model by its name; several as their number, so that the row stays low. */
function Models({ names }: { names: string[] }) {
  if (names.length < 2) return names.map((name) => <Chip key={name}>{name}</Chip>);
  return <Chip tip={names.join(", ")}>{names.length} models</Chip>;
}

function Name({ row, grouping }: { row: AiGroup; grouping: Grouping }) {
  const isByName = grouping.value === "name";
  const chips = (
    <>
      {grouping.value !== "model" && <Models names={row.models ?? []} />}
      {isByName && row.hasNonRoot && <NonRootChip some={row.hasRoot} />}
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
      <FlaggedChip count={row.flaggedCount} />
    </>
  );
  if (isByName) {
    return (
      <NameLink kind="aiTrace" name={row.traceName}>
        {chips}
      </NameLink>
    );
  }
  return (
    <GroupLink search={{ q: queryOf(grouping, row.traceName) }} label={row.traceName || grouping.none}>
      {chips}
    </GroupLink>
  );
}

/** Columns that do not apply to tool runs. */
const MODEL_CALL_COLUMNS = new Set(["cost", "per", "tokens", "in"]);

function aiColumns(span: Span, grouping: Grouping): Column<AiGroup, GroupOrder<"aiTrace">>[] {
  return [
    {
      key: "name",
      head: grouping.label,
      sort: "trace_name",
      ascFirst: true,
      card: "main",
      cell: (row) => <Name row={row} grouping={grouping} />,
    },
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
      head: "In / out",
      num: true,
      width: "124px",
      card: "hide",
      help: "Input and output tokens, and how many of them are cached and of reasoning",
      className: "max-lg:hidden sm:@max-[1000px]:hidden text-ink2",
      cell: (row) => <TokenKinds of={row} />,
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
    trendColumn(span, "Calls", "much"),
    lastColumn("88px", "much"),
  ];
}
