import { getRouteApi, Link } from "@tanstack/react-router";
import { Waypoints } from "lucide-react";
import { usePost } from "../../api/hooks";
import { isCut } from "../../api/whole";
import { count, durationNs, NONE, usd } from "../../model/format";
import { exactTime, isoFromMs, parseMs } from "../../model/time";
import type { AiDetail, AiRow } from "../../model/types";
import { AttributeTable } from "../../parts/AttributeTable";
import { FlagChips, TermChips } from "../../parts/ai/Chips";
import { Conversation } from "../../parts/ai/Conversation";
import { isTool } from "../../parts/ai/callColumns";
import { NonRootChip } from "../../parts/EntityChips";
import { TraceLink } from "../../parts/occurrenceColumns";
import { PageHead, Section, Stats } from "../../parts/Page";
import { Empty, QueryView, SkeletonRows } from "../../parts/states";
import { Chip } from "../../ui/Chip";

const route = getRouteApi("/p/$pid/ai/t/$rowId");

export function AiTracePage() {
  const { rowId } = route.useParams();
  const { at } = route.useSearch();
  const query = usePost("/api/ai-traces/{id}", { recordedAt: at }, { path: { id: rowId }, keep: false });
  return (
    <QueryView query={query} skeleton={<SkeletonRows rows={6} />}>
      {(detail) => <Detail detail={detail} />}
    </QueryView>
  );
}

/** Half a day before and after: the conversation of an old call is outside the range of the pages. */
function around(at: string) {
  const ms = parseMs(at);
  return { from: isoFromMs(ms - HALF_DAY_MS), to: isoFromMs(Math.min(ms + HALF_DAY_MS, Date.now())) };
}
const HALF_DAY_MS = 12 * 3_600_000;

function Detail({ detail }: { detail: AiDetail }) {
  const { aiTrace: row, conversation } = detail;
  const { pid } = route.useParams();
  return (
    <>
      <PageHead
        title={row.traceName}
        sub={
          <>
            <span>{exactTime(row.recordedAt)}</span>
            {row.model && <span className="chip font-mono">{row.model}</span>}
            {row.provider && <Chip>{row.provider}</Chip>}
            {!row.isRoot && <NonRootChip />}
            {row.isError && <Chip tone="error">failed</Chip>}
            {row.isStream && <Chip>Streaming</Chip>}
            {isTool(row) && <Chip>tool run</Chip>}
            <FlagChips flags={row.flags} />
            <TermChips terms={row.flaggedTerms} />
            <Link to="/p/$pid/ai/$name" params={{ pid, name: row.traceName }} className="link">
              all {isTool(row) ? "runs" : "calls"} of this name
            </Link>
          </>
        }
        actions={
          <TraceLink traceId={row.traceId} spanId={row.spanId} at={row.recordedAt} className="btn">
            <Waypoints size={14} aria-hidden /> View in trace
          </TraceLink>
        }
      />
      <div className="space-y-4 px-4 pb-6">
        <Numbers row={row} />
        <Section
          title="Conversation"
          actions={
            row.conversationId && (
              <Link
                to="/p/$pid/ai"
                params={{ pid }}
                search={{ conversation: row.conversationId, ...around(row.recordedAt) } as never}
                className="link max-w-full truncate font-mono text-dense"
              >
                {row.conversationId}
              </Link>
            )
          }
        >
          {conversation?.messages?.length ? (
            <Conversation talk={conversation} terms={row.flaggedTerms} />
          ) : (
            <Empty title="No conversation was sent">
              Most SDKs leave out prompts and answers until asked to. Turn on message capture in your instrumentation
              (for example{" "}
              <code className="font-mono text-dense">OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true</code>).
            </Empty>
          )}
        </Section>
        <Section title="Attributes">
          {isCut(row) && (
            <p className="text-ink2">
              Long values are cut:{" "}
              <TraceLink traceId={row.traceId} spanId={row.spanId} at={row.recordedAt}>
                the span has them whole
              </TraceLink>
              .
            </p>
          )}
          <AttributeTable attributes={row.attributes} label="Attributes of the call" />
        </Section>
      </div>
    </>
  );
}

function Numbers({ row }: { row: AiRow }) {
  const estimate = row.costEstimated && row.totalCost !== null ? " (estimated)" : "";
  return (
    <Stats
      items={[
        { label: "Duration", value: durationNs(row.duration) },
        ...(isTool(row)
          ? []
          : [
              {
                label: `Cost${estimate}`,
                value: usd(row.totalCost),
                help: `Input ${usd(row.inputCost)}, output ${usd(row.outputCost)}${row.isCounted ? "" : ". Repeats the cost of calls below it and is in no sum"}`,
              },
              { label: "Input tokens", value: count(row.inputTokens) },
              { label: "of them cached", value: count(row.cachedTokens) },
              ...(row.cacheWriteTokens === null
                ? []
                : [{ label: "of them written to the cache", value: count(row.cacheWriteTokens) }]),
              { label: "Output tokens", value: count(row.outputTokens) },
              { label: "of them reasoning", value: count(row.reasoningTokens) },
            ]),
        { label: "Ended", value: <span className="text-body">{row.finishReason || NONE}</span> },
        { label: "User", value: <span className="text-body [overflow-wrap:anywhere]">{row.userId || NONE}</span> },
      ]}
    />
  );
}
