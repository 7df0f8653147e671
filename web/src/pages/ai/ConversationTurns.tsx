// One conversation: its turns as a chat, with cost, tokens and the tree of tool runs of each.
import { getRouteApi, Link } from "@tanstack/react-router";
import { Bot, ChevronRight, Dot, Waypoints, Wrench } from "lucide-react";
import { usePost, useProjectId } from "../../api/hooks";
import { useRange } from "../../api/range";
import { prettyJson } from "../../model/content";
import { bytes, count, durationNs, NONE, plural } from "../../model/format";
import { exactTime } from "../../model/time";
import type { ConversationPage, ConversationTurn, TurnSpan } from "../../model/types";
import { FlagChips, TermChips } from "../../parts/ai/Chips";
import { Bubble } from "../../parts/ai/Conversation";
import { Cost } from "../../parts/ai/Cost";
import { isTool } from "../../parts/ai/callColumns";
import { LongText } from "../../parts/LongText";
import { TraceLink } from "../../parts/occurrenceColumns";
import { PageHead, Stats } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { QueryView, SkeletonRows } from "../../parts/states";
import { Chip } from "../../ui/Chip";
import { FlaggedChip, TokenKinds } from "./cells";

const route = getRouteApi("/p/$pid/ai");
const TURNS_PER_PAGE = 20;

export function ConversationTurns({ id }: { id: string }) {
  const pid = useProjectId();
  const { page = 1 } = route.useSearch();
  const { body } = useRange();
  const pagination = { page, pageSize: TURNS_PER_PAGE };
  const query = usePost("/api/ai-conversations/conversation", { ...body, conversationId: id, pagination });
  return (
    <>
      <PageHead
        title="Conversation"
        sub={
          <>
            <span className="font-mono text-dense [overflow-wrap:anywhere]">{id}</span>
            <Link to="/p/$pid/ai" params={{ pid }} search={{ by: "conversation" }} className="link">
              all conversations
            </Link>
          </>
        }
      />
      <QueryView query={query} skeleton={<SkeletonRows rows={6} />}>
        {(answer) => <Turns answer={answer} first={(page - 1) * TURNS_PER_PAGE + 1} />}
      </QueryView>
    </>
  );
}

function Turns({ answer, first }: { answer: ConversationPage; first: number }) {
  const { conversation: talk, data, pagination } = answer;
  return (
    <div className="space-y-4 px-4 pb-6">
      <Stats
        items={[
          { label: "Turns", value: count(pagination.total) },
          { label: "Cost", value: <Cost value={talk.totalCost} estimated={talk.estimatedCost} /> },
          { label: "Input tokens", value: count(talk.inputTokens) },
          { label: "of them cached", value: count(talk.cachedTokens) },
          { label: "Output tokens", value: count(talk.outputTokens) },
          { label: "of them reasoning", value: count(talk.reasoningTokens) },
          { label: "Failed", value: count(talk.errorCount), tone: talk.errorCount ? "error" : undefined },
          { label: "User", value: <span className="text-body [overflow-wrap:anywhere]">{talk.userId || NONE}</span> },
        ]}
      />
      <p className="flex flex-wrap items-center gap-2 text-ink2">
        <span>
          {exactTime(talk.firstSeen).replace(/(\.\d{3})\d+$/, "$1")} to{" "}
          {exactTime(talk.lastSeen).replace(/(\.\d{3})\d+$/, "$1")}
        </span>
        {talk.models.map((model) => (
          <span key={model} className="chip font-mono">
            {model}
          </span>
        ))}
        <FlaggedChip count={talk.flaggedCount} />
        {answer.isPartial && <Chip tone="warn">Not all of its spans are shown</Chip>}
      </p>
      <ol className="space-y-4" aria-label="Turns of the conversation">
        {data.map((turn, i) => (
          <Turn key={`${turn.call.traceId}${turn.call.spanId}`} turn={turn} number={first + i} />
        ))}
      </ol>
      <Pager pagination={pagination} noun="turns" />
    </div>
  );
}

function Turn({ turn, number }: { turn: ConversationTurn; number: number }) {
  const { call } = turn;
  const pid = useProjectId();
  return (
    <li className="panel overflow-hidden">
      <div className="flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1 border-line border-b px-3 py-1.5">
        <h2 className="font-semibold">Turn {number}</h2>
        <Link
          to="/p/$pid/ai/t/$rowId"
          params={{ pid, rowId: call.id }}
          search={{ at: call.recordedAt }}
          className="link"
        >
          {call.traceName}
        </Link>
        {call.model && <span className="chip font-mono">{call.model}</span>}
        {call.isError && <Chip tone="error">failed</Chip>}
        {isTool(call) && <Chip>tool run</Chip>}
        <FlagChips flags={call.flags} />
        <TermChips terms={call.flaggedTerms} />
        <span className="flex-1" />
        <dl className="flex flex-wrap items-center gap-x-4 text-dense text-ink2 [&>div]:flex [&>div]:gap-1">
          {!isTool(call) && (
            <>
              <Value label="Cost">
                <Cost value={call.totalCost} estimated={call.costEstimated} />
              </Value>
              <Value label="Tokens in / out">
                <TokenKinds of={call} />
              </Value>
            </>
          )}
          <Value label="Took">{durationNs(call.duration)}</Value>
        </dl>
        <TraceLink traceId={call.traceId} spanId={call.spanId} at={call.recordedAt} className="btn">
          <Waypoints size={14} aria-hidden /> Trace
        </TraceLink>
      </div>
      <div className="space-y-3 p-3">
        {turn.repeatedMessages > 0 && (
          <p className="text-dense text-ink2">
            {plural(turn.repeatedMessages, "message")} of the turns before sent again, not repeated here.
          </p>
        )}
        {turn.messages.length > 0 ? (
          <ol className="space-y-3" aria-label={`Messages of turn ${number}`}>
            {turn.messages.map((message, i) => (
              <Bubble key={i} message={message} note={cutNote(message.cutBytes)} terms={call.flaggedTerms} />
            ))}
          </ol>
        ) : (
          !isTool(call) &&
          !turn.repeatedMessages && <p className="text-ink2">The spans of this call have no messages.</p>
        )}
        {turn.tools.length > 0 && <Tree turn={turn} number={number} />}
      </div>
    </li>
  );
}

const cutNote = (cut: number) => (cut ? `${bytes(cut)} more on the page of the call` : undefined);

function Value({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd className="font-medium text-ink tabular-nums">{children}</dd>
    </div>
  );
}

function Tree({ turn, number }: { turn: ConversationTurn; number: number }) {
  return (
    <div className="rounded-control border border-line">
      <h3 className="border-line border-b px-3 py-1.5 font-medium text-dense">Tools of turn {number}</h3>
      <ul aria-label={`Tools of turn ${number}`}>
        {turn.tools.map((span) => (
          <TreeRow key={span.spanId} span={span} />
        ))}
      </ul>
      {turn.toolsCut && <p className="px-3 py-1.5 text-dense text-ink2">Further spans are in the trace.</p>}
    </div>
  );
}

const ICONS = { tool: Wrench, model: Bot, span: Dot };

function TreeRow({ span }: { span: TurnSpan }) {
  const Icon = ICONS[span.kind];
  const hasContent = !!span.arguments || !!span.result;
  const name = span.toolName || span.name;
  const open = (text: string) => (
    <TraceLink
      traceId={span.traceId}
      spanId={span.spanId}
      at={span.startTime}
      className="link inline-flex min-h-6 min-w-6 items-center [overflow-wrap:anywhere]"
    >
      {text}
    </TraceLink>
  );
  const line = (
    <>
      <Icon size={13} aria-hidden className="shrink-0 text-ink2" />
      <span className="sr-only">{span.kind}</span>
      {hasContent ? <span className="font-medium [overflow-wrap:anywhere]">{name}</span> : open(name)}
      {span.model && <span className="chip font-mono">{span.model}</span>}
      {span.isError && <Chip tone="error">failed</Chip>}
      <span className="flex-1" />
      {span.totalCost !== null && <Cost value={span.totalCost} estimated={false} />}
      <span className="text-ink2 tabular-nums">{durationNs(span.duration)}</span>
    </>
  );
  const style = { paddingLeft: `${12 + Math.min(span.depth, 12) * 16}px` };
  if (!hasContent)
    return (
      <li className="flex items-center gap-2 py-1 pr-3 text-dense" style={style}>
        <span className="w-[13px] shrink-0" />
        {line}
      </li>
    );
  return (
    <li className="text-dense">
      <details className="group">
        <summary className="flex min-h-6 list-none items-center gap-2 py-1 pr-3" style={style}>
          <ChevronRight size={13} aria-hidden className="shrink-0 transition-transform group-open:rotate-90" />
          {line}
        </summary>
        <div className="space-y-2 border-line border-y bg-panel p-2" style={style}>
          <Content title="Arguments" text={span.arguments} />
          <Content title="Result" text={span.result} />
          {open("View in trace")}
        </div>
      </details>
    </li>
  );
}

function Content({ title, text }: { title: string; text: string }) {
  if (!text) return null;
  return (
    <div>
      <p className="text-caption text-ink2">{title}</p>
      <pre className="max-h-72 overflow-auto font-mono text-dense" tabIndex={0}>
        <LongText text={prettyJson(text)} />
      </pre>
    </div>
  );
}
