import { getRouteApi } from "@tanstack/react-router";
import { usePost } from "../../api/hooks";
import { filtersText, parseFilters } from "../../model/search";
import { hasBraces, traceQuery } from "../../model/trace-query";
import { asTraceId } from "../../model/traceid";
import { SPAN_KINDS } from "../../model/words";
import { DataTable } from "../../parts/DataTable";
import { Latency } from "../../parts/explain/Latency";
import { Facets } from "../../parts/Facets";
import { FilterInput } from "../../parts/FilterInput";
import { useListBody, usePatchSearch } from "../../parts/listSearch";
import { NoData } from "../../parts/NoData";
import { TraceLink } from "../../parts/occurrenceColumns";
import { PageHead, Toolbar } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { QueryBar } from "../../parts/QueryBar";
import { QueryView } from "../../parts/states";
import { Segmented } from "../../ui/Segmented";
import { Select } from "../../ui/Select";
import { spanColumns } from "./columns";
import { DurationFilter } from "./DurationFilter";
import { TraceList } from "./TraceList";
import { traceColumns } from "./traceColumns";

const route = getRouteApi("/p/$pid/traces");

export function TracesPage() {
  const search = route.useSearch();
  const patch = usePatchSearch();
  const filters = parseFilters(search.attr);
  const { sort, body } = useListBody(search, spanColumns([]), { by: "start_time", desc: true });
  const { search: _name, ...rest } = body;
  const traces = useListBody(search, traceColumns, { by: "start_time", desc: true });
  const { search: _text, ...tracesBody } = traces.body;
  const traceId = asTraceId(search.q ?? "");
  const listsSpans = !!search.all || !!traceId;
  const ofSpans = {
    route: "/api/spans" as const,
    body: {
      ...rest,
      query: traceId ? undefined : search.q,
      traceId: traceId ?? undefined,
      kind: search.kind,
      status: search.status,
      minDurationMs: search.min,
      maxDurationMs: search.max,
      attributeFilters: filters,
    },
  };
  const query = usePost(ofSpans.route, ofSpans.body, { enabled: listsSpans });
  const ofTraces = {
    route: "/api/traces/search" as const,
    body: { ...tracesBody, query: traceQuery(search), minDurationMs: search.min, maxDurationMs: search.max },
  };
  const found = usePost(ofTraces.route, ofTraces.body, { enabled: !listsSpans });
  const look = (q: string) => patch({ q: q || undefined });
  const clear = () =>
    patch({
      q: undefined,
      kind: undefined,
      status: undefined,
      min: undefined,
      max: undefined,
      attr: undefined,
    });
  const filtered = !!(
    search.q ||
    search.kind !== undefined ||
    search.status !== undefined ||
    search.min ||
    search.max ||
    filters.length
  );
  // The heatmap counts all traces of the time range.
  const isUnfiltered = !filtered && !listsSpans;
  const isHeatmap = isUnfiltered && (search.plot === "heatmap" || !!search.explain);
  return (
    <>
      <PageHead
        title="Traces"
        sub={
          search.all
            ? "Every stored span; a row opens its trace."
            : "A query finds a trace by any of its spans; {a} > {b} by a span and its child. A row opens the waterfall."
        }
      />
      <Toolbar>
        <QueryBar
          rows="span"
          label="Search spans"
          placeholder={
            search.all
              ? "Words of the name, a trace id, or duration>200ms db.system.name:*"
              : "Words, a trace id, db.system.name:*, {service:a} >> {error:true} or !{kind:client}"
          }
          value={search.q ?? ""}
          error={listsSpans ? query.error : found.error}
          onSearch={look}
        />
        <Segmented
          label="Which spans"
          value={search.all ? "all" : "roots"}
          options={[
            { value: "roots", label: "Traces" },
            { value: "all", label: "All spans" },
          ]}
          onChange={(value) => patch({ all: value === "all" || undefined, sort: undefined })}
        />
        <Select
          label="Kind"
          value={String(search.kind ?? "")}
          options={[
            { value: "", label: "Any kind" },
            ...SPAN_KINDS.slice(1).map((label, i) => ({ value: String(i + 1), label })),
          ]}
          onChange={(kind) => patch({ kind: kind || undefined })}
        />
        <Select
          label="Status"
          value={String(search.status ?? "")}
          options={[
            { value: "", label: "Any status" },
            { value: "2", label: "Error" },
            { value: "1", label: "Ok" },
            { value: "0", label: "Unset" },
          ]}
          onChange={(status) => patch({ status: status || undefined })}
        />
        {isUnfiltered && (
          <Segmented
            label="Plot"
            value={isHeatmap ? "heatmap" : "points"}
            options={[
              { value: "points", label: "Points" },
              { value: "heatmap", label: "Heatmap" },
            ]}
            onChange={(value) =>
              patch({ plot: value === "heatmap" ? value : undefined, explain: undefined, where: undefined })
            }
          />
        )}
        <DurationFilter min={search.min} max={search.max} onChange={(change) => patch(change)} />
        {filters.length > 0 && (
          <FilterInput filters={filters} onChange={(next) => patch({ attr: filtersText(next) })} />
        )}
      </Toolbar>
      {traceId && (
        <p className="px-4 pb-3">
          <TraceLink traceId={traceId} className="btn btn-primary">
            Open trace {traceId.slice(0, 8)}…
          </TraceLink>
        </p>
      )}
      {isHeatmap && (
        <div className="px-4 pb-4">
          <Latency entity="trace" search={search} />
        </div>
      )}
      <div className="mx-4 mb-6 flex gap-3 max-xl:flex-col">
        {!traceId && !hasBraces(search.q ?? "") && (
          <Facets
            rows="span"
            query={search.q ?? ""}
            onSearch={look}
            isListRead={!(listsSpans ? query : found).isPending}
          />
        )}
        <div className="panel min-w-0 flex-1 self-start overflow-x-auto max-xl:w-full">
          {listsSpans ? (
            <QueryView query={query}>
              {(page) =>
                page.data?.length ? (
                  <>
                    <DataTable
                      label="Spans"
                      columns={spanColumns(page.data)}
                      rows={page.data}
                      rowKey={(row) => row.traceId + row.spanId}
                      sort={sort}
                    />
                    <Pager pagination={page.pagination} noun="spans" question={ofSpans} />
                  </>
                ) : (
                  <NoData
                    what="spans"
                    about="Every accepted span is stored and can be searched here."
                    filtered={filtered}
                    onClear={clear}
                  />
                )
              }
            </QueryView>
          ) : (
            <TraceList
              query={found}
              question={ofTraces}
              sort={traces.sort}
              hasPoints={!isHeatmap}
              filtered={filtered}
              onClear={clear}
            />
          )}
        </div>
      </div>
    </>
  );
}
