import type { UseQueryResult } from "@tanstack/react-query";
import { useCallback } from "react";
import { useLogs } from "../../api/logs";
import type { Span } from "../../api/types";
import { isoFromMs } from "../../model/time";
import type { Trace } from "../../model/waterfall";
import { LogList } from "../../parts/LogList";
import { Empty, QueryView } from "../../parts/states";

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
          return (
            <LogList
              rows={rows}
              total={data.pages[0].pagination.total}
              label="Logs of this trace"
              onEnd={more}
              withTrace={false}
            />
          );
        }}
      </QueryView>
    </div>
  );
}
