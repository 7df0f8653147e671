import { getRouteApi, Link } from "@tanstack/react-router";
import { usePost, useProjectId } from "../../api/hooks";
import { DataTable } from "../../parts/DataTable";
import { useListBody } from "../../parts/listSearch";
import { NoData } from "../../parts/NoData";
import { PageHead } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { QueryView } from "../../parts/states";
import { CALL_COLUMNS } from "./callColumns";

const route = getRouteApi("/p/$pid/ai");

/** All model calls and tool runs of a conversation, in chronological order. */
export function ConversationCalls({ id }: { id: string }) {
  const pid = useProjectId();
  const { sort, body } = useListBody(route.useSearch(), CALL_COLUMNS, { by: "recorded_at", desc: false });
  const query = usePost("/api/ai-traces", { ...body, conversationId: id });
  return (
    <>
      <PageHead
        title="Conversation"
        sub={
          <>
            <span className="font-mono text-dense [overflow-wrap:anywhere]">{id}</span>
            <Link to="/p/$pid/ai" params={{ pid }} className="link">
              all AI traces
            </Link>
          </>
        }
      />
      <div className="panel mx-4 mb-6 overflow-x-auto">
        <QueryView query={query}>
          {(page) =>
            page.data?.length ? (
              <>
                <DataTable
                  label="Calls of the conversation"
                  columns={CALL_COLUMNS}
                  rows={page.data}
                  rowKey={(row) => row.id}
                  sort={sort}
                />
                <Pager pagination={page.pagination} noun="calls" />
              </>
            ) : (
              <NoData what="calls" about="The calls of this conversation are listed here, with its tools." />
            )
          }
        </QueryView>
      </div>
    </>
  );
}
