import type { UseQueryResult } from "@tanstack/react-query";
import { type FocusEvent, type PointerEvent, useCallback, useState } from "react";
import { useLogs } from "../../api/logs";
import { durationMs } from "../../model/format";
import { isoFromMs, parseMs } from "../../model/time";
import { runningAt } from "../../model/trace-parts";
import type { Span } from "../../model/types";
import type { Trace } from "../../model/waterfall";
import { LogList } from "../../parts/LogList";
import { Empty, QueryView } from "../../parts/states";
import { SearchLink } from "../../ui/SearchLink";
import { Minimap } from "../../viz/Minimap";
import { useServiceColours } from "../../viz/useServiceColours";

const DAY = 86_400_000;

/** Log records with the trace's id and a span id, within 24 hours of the trace, of all projects the user may open. */
export function TraceLogs({ trace, traceId }: { trace: Trace<Span>; traceId: string }) {
  const startMs = Number(trace.startNs / 1_000_000n);
  const query = useLogs({
    fromDate: isoFromMs(startMs - DAY),
    toDate: isoFromMs(startMs + trace.totalMs + DAY),
    traceId,
    linkedOnly: true,
    allProjects: true,
    orderBy: "timestamp",
    sortDirection: "asc",
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const [atMs, setAt] = useState<number | null>(null);
  return (
    <div className="flex min-h-0 flex-1 flex-col [&>div]:flex [&>div]:min-h-0 [&>div]:flex-1 [&>div]:flex-col">
      <QueryView query={query as unknown as UseQueryResult<NonNullable<typeof query.data>>}>
        {(data) => {
          const rows = data.pages.flatMap((page) => page.data ?? []);
          if (!rows.length)
            return (
              <Empty title="No logs in this trace">
                Log records show here when they carry this trace's id and a span id. Turn on log correlation in your
                SDK.
              </Empty>
            );
          // A row of the list has its place as `data-index`.
          const point = ({ target }: PointerEvent | FocusEvent) => {
            const place = target instanceof Element && target.closest<HTMLElement>("[data-index]")?.dataset.index;
            const row = place ? rows[Number(place)] : undefined;
            if (row) setAt(parseMs(row.timestamp) - startMs);
          };
          return (
            <>
              <Overview trace={trace} atMs={atMs} />
              {/* biome-ignore lint/a11y/noStaticElementInteractions: the rows inside have the roles and the keys */}
              <div className="flex min-h-0 flex-1 flex-col" onPointerOver={point} onFocus={point}>
                <LogList
                  rows={rows}
                  total={data.pages[0].pagination.total}
                  label="Logs of this trace"
                  onEnd={more}
                  withTrace={false}
                />
              </div>
            </>
          );
        }}
      </QueryView>
    </div>
  );
}

/** The trace, with the time of the log under the pointer or with the focus, and the span that ran then. */
function Overview({ trace, atMs }: { trace: Trace<Span>; atMs: number | null }) {
  const colourOf = useServiceColours(trace.services.map((service) => service.name));
  const running = atMs === null ? -1 : runningAt(trace, atMs);
  const span = trace.nodes[running]?.span;
  return (
    <div className="border-line border-b px-4 pt-2 pb-1">
      <Minimap
        trace={trace}
        colourOf={colourOf}
        zoom={{ from: 0, to: trace.totalMs }}
        onZoom={() => {}}
        selected={running}
        at={atMs}
        label="Overview of the trace; a line marks the time of the log under the pointer."
      />
      <p className="min-h-6 text-dense text-ink2">
        {atMs === null ? (
          "Point at a log to see when it was written, and which span ran then."
        ) : (
          <>
            {atMs < 0 ? `${durationMs(-atMs)} before the trace` : `+${durationMs(atMs)}`}
            {span ? ", during " : ", while no span ran"}
            {span && (
              <SearchLink change={{ tab: undefined, span: span.spanId }} className="link font-mono">
                {span.name}
              </SearchLink>
            )}
          </>
        )}
      </p>
    </div>
  );
}
