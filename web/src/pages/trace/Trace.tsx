import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useState } from "react";
import { ApiError } from "../../api/client";
import { usePost } from "../../api/hooks";
import { criticalPath, ownMs, SLOW_TRACE_MS } from "../../model/critical-path";
import { count } from "../../model/format";
import { traceOf } from "../../model/trace-columns";
import type { TraceColumns } from "../../model/types";
import { Empty, QueryView, SkeletonBox } from "../../parts/states";
import { SearchLink } from "../../ui/SearchLink";
import { TAB, TabRow } from "../../ui/Tabs";
import { useMedia } from "../../ui/useMedia";
import { SpanDrawer } from "./SpanDrawer";
import { TraceAi } from "./TraceAi";
import { TraceFlame } from "./TraceFlame";
import { LinkedTraces, TraceHead } from "./TraceHead";
import { TraceIssues } from "./TraceIssues";
import { TraceLogs } from "./TraceLogs";
import { TraceMap } from "./TraceMap";
import { TraceSpans } from "./TraceSpans";
import { Waterfall } from "./Waterfall";

const route = getRouteApi("/p/$pid/traces/$traceId");

export function TracePage() {
  const { traceId } = route.useParams();
  const { at, span, offset } = route.useSearch();
  // The window is that of the span that the page is opened with; moving between spans reads nothing.
  const [opened] = useState({ traceId, span });
  const query = usePost(
    "/api/traces/{traceId}/columns",
    { recordedAt: at, offset, span: opened.traceId === traceId ? opened.span : undefined },
    { path: { traceId }, keep: false },
  );
  if (query.error instanceof ApiError && query.error.status === 404) return <Nothing traceId={traceId} />;
  return (
    <div className="flex h-full flex-col [&>div]:flex [&>div]:min-h-0 [&>div]:flex-1 [&>div]:flex-col">
      <QueryView query={query} skeleton={<Skeleton />}>
        {(answer) =>
          answer.spans.ids.length ? (
            <Body key={`${traceId} ${answer.offset}`} answer={answer} />
          ) : (
            <WithoutSpans answer={answer} />
          )
        }
      </QueryView>
    </div>
  );
}

function Skeleton() {
  return (
    <div className="space-y-3 p-4">
      <SkeletonBox height={24} />
      <SkeletonBox height={56} />
      <SkeletonBox height={360} />
    </div>
  );
}

function Nothing({ traceId }: { traceId: string }) {
  return (
    <Empty title="No spans of this trace are stored" heading>
      Trace <span className="font-mono text-dense [overflow-wrap:anywhere]">{traceId}</span> may be too old, sampled
      away, not exported yet, or its root span matched nothing and was dropped. Logs can still name it.
    </Empty>
  );
}

/** A trace that only exceptions and linked traces name, such as that of a web page. */
function WithoutSpans({ answer }: { answer: TraceColumns }) {
  const trace = useMemo(() => traceOf(answer), [answer]);
  return (
    <div className="overflow-y-auto">
      <header className="px-4 pt-3">
        <h1 tabIndex={-1} className="font-mono font-semibold text-section [overflow-wrap:anywhere]">
          {answer.traceId}
        </h1>
        <LinkedTraces ids={answer.linkedTraceIds} />
      </header>
      {answer.exceptions.length > 0 ? (
        <TraceIssues exceptions={answer.exceptions} trace={trace} />
      ) : (
        <Nothing traceId={answer.traceId} />
      )}
    </div>
  );
}

function Body({ answer }: { answer: TraceColumns }) {
  const search = route.useSearch();
  const { traceId } = route.useParams();
  const navigate = route.useNavigate();
  const trace = useMemo(() => traceOf(answer), [answer]);
  const path = useMemo(() => criticalPath(trace), [trace]);
  const isSlow = path.totalMs >= SLOW_TRACE_MS;
  // On wide screens the drawer shows every selected span; on narrow screens only after an explicit open.
  const isWide = useMedia("(min-width: 1024px)");
  const [isOpened, setIsOpened] = useState(false);
  const openDrawer = useCallback(() => setIsOpened(true), []);
  const selected = search.span ? trace.indexOf.get(search.span) : undefined;
  const had = search.span !== undefined;
  const select = useCallback(
    // Opening the drawer adds a history entry; moving between spans replaces it.
    (span: string | undefined) => navigate({ search: (old) => ({ ...old, span }), replace: had && span !== undefined }),
    [navigate, had],
  );
  // Deliberate: runs once, when the trace opens
  useEffect(() => {
    const worst = trace.nodes[path.worst]?.span.spanId;
    if (!search.span && !search.tab && worst) navigate({ search: (old) => ({ ...old, span: worst }), replace: true });
  }, []);
  const [issues, calls] = [answer.exceptions.length, answer.aiTraces.length];
  const tabs = [
    { value: undefined, label: "Waterfall" },
    { value: "flame" as const, label: "Flame" },
    { value: "spans" as const, label: "Spans" },
    { value: "map" as const, label: "Map" },
    { value: "logs" as const, label: "Logs" },
    { value: "issues" as const, label: issues ? `Issues ${count(issues)}` : "Issues" },
    { value: "ai" as const, label: calls ? `AI ${count(calls)}` : "AI" },
  ];
  return (
    <>
      <TraceHead answer={answer} trace={trace} path={path} />
      <div className="px-2">
        <TabRow label="Views of the trace">
          {tabs.map((tab) => (
            <SearchLink
              key={tab.label}
              change={{ tab: tab.value, sort: undefined }}
              className={TAB}
              current={search.tab === tab.value}
            >
              {tab.label}
            </SearchLink>
          ))}
        </TabRow>
      </div>
      {search.tab === "flame" && (
        <TraceFlame
          trace={trace}
          onOpen={(span) => navigate({ search: (old) => ({ ...old, tab: undefined, span }) })}
        />
      )}
      {search.tab === "spans" && <TraceSpans trace={trace} path={path} search={search} />}
      {search.tab === "map" && <TraceMap answer={answer} />}
      {search.tab === "logs" && <TraceLogs trace={trace} traceId={traceId} />}
      {search.tab === "issues" && <TraceIssues exceptions={answer.exceptions} trace={trace} />}
      {search.tab === "ai" && <TraceAi answer={answer} />}
      {!search.tab && (
        <div className="flex min-h-[460px] flex-1">
          <div className="flex min-h-0 min-w-0 flex-1 flex-col">
            <Waterfall
              trace={trace}
              path={path}
              isPathShown={isSlow}
              search={search}
              onSelect={select}
              onOpen={openDrawer}
            />
          </div>
          {selected !== undefined && (isWide || isOpened) && (
            <SpanDrawer
              node={trace.nodes[selected]}
              trace={trace}
              pathMs={path.own.has(selected) ? ownMs(path.own, selected) : null}
              answer={answer}
              onClose={() => {
                setIsOpened(false);
                select(undefined);
                document.querySelector<HTMLElement>("main [data-landing]")?.focus({ preventScroll: true });
              }}
            />
          )}
        </div>
      )}
    </>
  );
}
