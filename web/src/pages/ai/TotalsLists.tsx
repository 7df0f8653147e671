// The lists of conversations and of users, with the chart of their AI traces.
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { usePost } from "../../api/hooks";
import type { OrderOf } from "../../api/routes";
import { flagsOf, groupingOf, queryOf } from "../../model/ai";
import { count, durationNs } from "../../model/format";
import type { AiSearch } from "../../model/telemetry-search";
import type { AiConversation, AiTotals, AiUser, Page } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { Cost } from "../../parts/ai/Cost";
import { type Column, DataTable } from "../../parts/DataTable";
import { EstimatedNote } from "../../parts/Estimated";
import { useListBody, usePatchSearch } from "../../parts/listSearch";
import { NoData } from "../../parts/NoData";
import { Pager } from "../../parts/Pager";
import { QueryList } from "../../parts/QueryList";
import { QueryView } from "../../parts/states";
import { countColumn, ErrorRate } from "../entities/columns";
import { EntityChart } from "../entities/EntityChart";
import { AiFilters } from "./AiFilters";
import { FlaggedChip, GroupLink, TokenKinds } from "./cells";

type Order = OrderOf<"/api/ai-conversations/grouped"> & OrderOf<"/api/ai-users/grouped">;

const cost: Column<AiTotals, Order> = {
  key: "cost",
  head: "Cost",
  sort: "total_cost",
  num: true,
  width: "96px",
  cell: (row) => <Cost value={row.totalCost} estimated={row.estimatedCost} />,
};
const totals: Column<AiTotals, Order>[] = [
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
    className: "max-lg:hidden text-ink2",
    cell: (row) => <TokenKinds of={row} />,
  },
  {
    key: "errors",
    head: "Failed",
    sort: "error_count",
    num: true,
    width: "76px",
    cell: (row) => <ErrorRate errors={row.errorCount} all={row.count} />,
  },
  { key: "p95", head: "Slow p95", num: true, width: "92px", card: "hide", cell: (row) => durationNs(row.p95Duration) },
  {
    key: "last",
    head: "Last seen",
    sort: "last_seen",
    num: true,
    width: "104px",
    cell: (row) => <Ago at={row.lastSeen} />,
  },
];

function Models({ models }: { models: string[] }) {
  return models.slice(0, 3).map((model) => (
    <span key={model} className="chip font-mono">
      {model}
    </span>
  ));
}

const CONVERSATIONS: Column<AiConversation, OrderOf<"/api/ai-conversations/grouped">>[] = [
  {
    key: "conversation",
    head: "Conversation",
    card: "main",
    cell: (row) => (
      <GroupLink search={{ conversation: row.conversationId }} label={row.traceName}>
        <span className="font-mono text-caption text-ink2 [overflow-wrap:anywhere]">{row.conversationId}</span>
        <Models models={row.models} />
        <FlaggedChip count={row.flaggedCount} />
      </GroupLink>
    ),
  },
  {
    key: "user",
    head: "User",
    card: "half",
    className: "text-ink2 max-lg:hidden max-sm:block",
    cell: (row) => row.userId || "–",
  },
  cost,
  ...totals,
];

const USERS: Column<AiUser, OrderOf<"/api/ai-users/grouped">>[] = [
  {
    key: "user",
    head: "User",
    card: "main",
    cell: (row) => (
      <GroupLink search={{ by: "conversation", q: queryOf(groupingOf("user"), row.userId) }} label={row.userId}>
        <Models models={row.models} />
        <FlaggedChip count={row.flaggedCount} />
      </GroupLink>
    ),
  },
  {
    key: "conversations",
    head: "Conversations",
    sort: "conversation_count",
    num: true,
    width: "104px",
    cell: (row) => count(row.conversationCount),
  },
  cost,
  ...totals,
];

export function ConversationList({ search }: { search: AiSearch }) {
  const { sort, body } = useListBody(search, CONVERSATIONS, { by: "last_seen", desc: true });
  const query = usePost("/api/ai-conversations/grouped", { ...body, ...selection(search) });
  return (
    <Frame search={search} what="conversations" query={query}>
      {(rows) => (
        <DataTable
          label="Conversations"
          columns={CONVERSATIONS}
          rows={rows}
          rowKey={(row) => row.conversationId}
          sort={sort}
        />
      )}
    </Frame>
  );
}

export function UserList({ search }: { search: AiSearch }) {
  const { sort, body } = useListBody(search, USERS, { by: "total_cost", desc: true });
  const query = usePost("/api/ai-users/grouped", { ...body, ...selection(search) });
  return (
    <Frame search={search} what="users" query={query}>
      {(rows) => <DataTable label="Users" columns={USERS} rows={rows} rowKey={(row) => row.userId} sort={sort} />}
    </Frame>
  );
}

/** The AI traces of a list: the text above it is a query. */
const selection = (search: AiSearch) => ({
  search: "",
  query: search.q ?? "",
  calls: search.calls ?? ("model" as const),
  flags: flagsOf(search.flag),
});

const SUBS = {
  conversations: "Conversations and sessions of AI traces. A trace without one is a conversation of its own.",
  users: "Users on whose behalf models were called: user.id of the spans.",
};

function Frame<Row extends AiTotals>({
  search,
  what,
  query,
  children,
}: {
  search: AiSearch;
  what: "conversations" | "users";
  query: UseQueryResult<Page<Row>>;
  children: (rows: Row[]) => ReactNode;
}) {
  const patch = usePatchSearch();
  const { calls, flags, query: text } = selection(search);
  return (
    <QueryList
      title="AI traces"
      sub={SUBS[what]}
      rows="ai_trace"
      what={what}
      placeholder="Words of the name, or model:gpt-* cost>0.01"
      query={text}
      isRead={!query.isPending}
      error={query.error}
      filters={<AiFilters search={search} />}
      chart={
        <EntityChart
          kind="aiTrace"
          calls={calls}
          flags={flags}
          groupBy="model"
          none={groupingOf("model").none}
          metric={search.metric}
          query={text}
          onMetric={(metric) => patch({ metric, page: search.page }, true)}
        />
      }
    >
      <QueryView query={query}>
        {({ data, pagination }) =>
          data.length ? (
            <>
              {children(data)}
              <EstimatedNote of={data} className="border-line border-t px-3 py-2" />
              <Pager pagination={pagination} noun={what} />
            </>
          ) : (
            <NoData
              what={what}
              about="Spans with gen_ai attributes are listed here by conversation and by user."
              filtered={!!search.q || !!search.calls || !!search.flag}
              onClear={() => patch({ q: undefined, calls: undefined, flag: undefined })}
            />
          )
        }
      </QueryView>
    </QueryList>
  );
}
