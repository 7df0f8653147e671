import type { UseQueryResult } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Radio, SearchCheck } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { ApiError } from "../../api/client";
import { usePost } from "../../api/hooks";
import { useLogs } from "../../api/logs";
import { useRange } from "../../api/range";
import type { LogBody } from "../../api/routes";
import { count } from "../../model/format";
import { wholeQuery } from "../../model/live-logs";
import { columnsText, parseColumns } from "../../model/log-columns";
import { termOf, terms } from "../../model/query";
import { filtersText, parseFilters, scoped } from "../../model/search";
import { asTraceId } from "../../model/traceid";
import { SEVERITY_NUMBER } from "../../model/words";
import { Facets } from "../../parts/Facets";
import { FilterInput } from "../../parts/FilterInput";
import { LogDetails, LogList } from "../../parts/LogList";
import { usePatchSearch } from "../../parts/listSearch";
import { NoData } from "../../parts/NoData";
import { TraceLink } from "../../parts/occurrenceColumns";
import { PageHead, Toolbar } from "../../parts/Page";
import { QueryBar } from "../../parts/QueryBar";
import { RowDrawer } from "../../parts/RowDrawer";
import { QueryView, SkeletonBox } from "../../parts/states";
import { useKeys } from "../../ui/keys";
import { Segmented } from "../../ui/Segmented";
import { Select } from "../../ui/Select";
import { Causes } from "./Causes";
import { ColumnMenu } from "./ColumnMenu";
import { ExportMenu } from "./ExportMenu";
import { Histogram } from "./Histogram";
import { Live } from "./Live";
import { Patterns } from "./Patterns";

const route = getRouteApi("/p/$pid/logs");
const LEVELS = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];

export function LogsPage() {
  const search = route.useSearch();
  const patch = usePatchSearch();
  const { body: range, refresh } = useRange();
  const filters = parseFilters(search.attr);
  const body: LogBody = {
    ...range,
    orderBy: "timestamp",
    sortDirection: search.asc ? "asc" : "desc",
    query: search.q ?? "",
    minSeverity: search.level ? SEVERITY_NUMBER[search.level] : undefined,
    traceId: search.trace,
    attributeFilters: filters.map(scoped),
  };
  const isLive = !!search.live;
  const isPatterns = !isLive && search.view === "patterns";
  const columns = parseColumns(search.cols);
  const setColumns = (next: string[]) => patch({ cols: columnsText(next) }, true);
  const toggleColumn = (key: string) =>
    setColumns(columns.includes(key) ? columns.filter((one) => one !== key) : [...columns, key]);
  const addTerm = (term: string) => {
    const all = terms(search.q ?? "").map((one) => one.text);
    // An alternative would bind to the new term only.
    const kept = all.map((one) => (/ OR /.test(one) && !/^\(.*\)$/.test(one) ? `(${one})` : one));
    patch({ q: [...kept.filter((one) => one !== term), term].join(" "), view: undefined });
  };
  const addFilter = (key: string, value: string) => addTerm(termOf(key, value));
  const histogram = usePost("/api/logs/histogram", body, { enabled: !isLive });
  const logs = useLogs(body, !isLive && !isPatterns);
  const [liveError, setLiveError] = useState<unknown>(null);
  const whole = wholeQuery({
    query: search.q ?? "",
    level: search.level,
    trace: search.trace,
    filters,
  });
  const shifted = useMemo(() => unshifted(liveError, whole.shift), [liveError, whole.shift]);
  const setLive = () => {
    // The list goes on to now: it has what the tail has shown.
    if (isLive) refresh();
    patch({ live: isLive ? undefined : true });
  };
  useKeys({ l: setLive });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = logs;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  // A pasted trace id is a filter, not a search text.
  const look = (text: string) => {
    const trace = asTraceId(text);
    patch(trace ? { trace, q: undefined } : { q: text || undefined });
  };
  const filtered = !!(search.q || search.level || search.trace || filters.length);
  const clear = () => patch({ q: undefined, level: undefined, trace: undefined, attr: undefined });
  return (
    <div className="flex h-full min-h-[640px] flex-col">
      <PageHead
        title="Logs"
        actions={
          <>
            <button type="button" className="btn" aria-pressed={isLive} onClick={setLive}>
              <Radio size={14} aria-hidden /> Live
            </button>
            {!isLive && <ExportMenu body={body} />}
          </>
        }
      />
      {!isLive && (
        <div className="px-4 pb-3">
          <QueryView query={histogram} skeleton={<SkeletonBox height={140} />}>
            {(data) => <Histogram data={data} />}
          </QueryView>
        </div>
      )}
      <Toolbar>
        <QueryBar
          rows="log"
          label="Search logs"
          placeholder="Words of the message, or level>=error service:checkout"
          value={search.q ?? ""}
          error={isLive ? shifted : (logs.error ?? histogram.error)}
          onSearch={look}
        />
        <Select
          label="Least severity"
          value={search.level ?? ""}
          options={[
            { value: "", label: "Any severity" },
            ...LEVELS.map((level) => ({ value: level, label: `${level} and up` })),
          ]}
          onChange={(level) => patch({ level: level || undefined })}
        />
        {filters.length > 0 && (
          <FilterInput
            label="Attribute filter (log:, scope: or resource: in front looks only there)"
            filters={filters}
            onChange={(next) => patch({ attr: filtersText(next) })}
          />
        )}
        {search.trace && (
          <button
            type="button"
            className="btn font-mono"
            onClick={() => patch({ trace: undefined })}
            aria-label="Remove the trace filter"
          >
            trace {search.trace.slice(0, 8)} ×
          </button>
        )}
        <span className="flex-1" />
        {!isLive && (
          <button
            type="button"
            className="btn"
            aria-pressed={!!search.explain}
            disabled={!whole.query}
            title="What the found records share that others of the same minutes lack"
            onClick={() => patch({ explain: search.explain ? undefined : "found", where: undefined })}
          >
            <SearchCheck size={14} aria-hidden /> Explain
          </button>
        )}
        {!isLive && (
          <Segmented
            label="View"
            value={search.view ?? "list"}
            options={[
              { value: "list", label: "List" },
              { value: "patterns", label: "Patterns" },
            ]}
            onChange={(value) => patch({ view: value === "patterns" ? value : undefined })}
          />
        )}
        {!isPatterns && (
          <ColumnMenu
            rows={isLive ? [] : (logs.data?.pages.flatMap((page) => page.data ?? []) ?? [])}
            columns={columns}
            onChange={setColumns}
          />
        )}
        {!isLive && !isPatterns && (
          <Segmented
            label="Order"
            value={search.asc ? "asc" : "desc"}
            options={[
              { value: "desc", label: "Newest first" },
              { value: "asc", label: "Oldest first" },
            ]}
            onChange={(value) => patch({ asc: value === "asc" || undefined })}
          />
        )}
      </Toolbar>
      {search.explain && whole.query && !isLive && <Causes query={whole.query} where={search.where} />}
      <div className="flex min-h-0 flex-1 border-line border-t max-xl:flex-col">
        <Facets fills rows="log" query={search.q ?? ""} onSearch={look} isListRead={isLive || !histogram.isPending} />
        <div className="flex min-h-0 min-w-0 flex-1 flex-col [&>div]:flex [&>div]:min-h-0 [&>div]:flex-1 [&>div]:flex-col">
          {isLive ? (
            <div>
              <Live
                key={whole.query}
                query={whole.query}
                onError={setLiveError}
                columns={columns}
                onColumn={toggleColumn}
                onFilter={addFilter}
              />
            </div>
          ) : isPatterns ? (
            <Patterns body={body} filtered={filtered} onClear={clear} onAdd={addTerm} />
          ) : (
            <QueryView query={logs as unknown as UseQueryResult<NonNullable<typeof logs.data>>}>
              {(data) => {
                const rows = data.pages.flatMap((page) => page.data ?? []);
                const total = data.pages[0].pagination.total;
                if (!rows.length)
                  return (
                    <NoData
                      what="logs"
                      about="Log records sent over OTLP are listed here."
                      filtered={filtered}
                      onClear={clear}
                    />
                  );
                return (
                  <>
                    <LogList
                      rows={rows}
                      total={total}
                      label="Logs"
                      onEnd={more}
                      withDate
                      columns={columns}
                      onColumn={toggleColumn}
                      onFilter={addFilter}
                      openRow={search.sel}
                    />
                    <RowDrawer
                      rows={rows}
                      rowKey={(row) => row.id}
                      what="log record"
                      title={(row) => `${row.severityText || "Log"} ${row.serviceName ? `of ${row.serviceName}` : ""}`}
                      page={(row) =>
                        row.traceId && (
                          <TraceLink
                            traceId={row.traceId}
                            spanId={row.spanId}
                            at={row.timestamp}
                            className="btn btn-primary"
                          >
                            Open the trace
                          </TraceLink>
                        )
                      }
                    >
                      {(row) => <LogDetails row={row} narrow onColumn={toggleColumn} onFilter={addFilter} />}
                    </RowDrawer>
                    <p className="border-line border-t px-4 py-1 text-dense text-ink2" role="status">
                      {count(rows.length)} of {count(total)} loaded
                      {isFetchingNextPage ? ", loading more…" : hasNextPage ? ", scroll for more" : ""}
                    </p>
                  </>
                );
              }}
            </QueryView>
          )}
        </div>
      </div>
    </div>
  );
}

/** An error of the live query, with its position in the query that is typed. */
function unshifted(error: unknown, shift: number): unknown {
  if (!shift || !(error instanceof ApiError) || error.position === null) return error;
  return new ApiError(error.status, error.message, null, error.at, Math.max(0, error.position - shift));
}
