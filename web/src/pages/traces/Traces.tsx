import { getRouteApi } from "@tanstack/react-router";
import { usePost } from "../../api/hooks";
import { filtersText, parseFilters } from "../../model/search";
import { asTraceId } from "../../model/traceid";
import { SPAN_KINDS } from "../../model/words";
import { DataTable } from "../../parts/DataTable";
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

const route = getRouteApi("/p/$pid/traces");

export function TracesPage() {
  const search = route.useSearch();
  const patch = usePatchSearch();
  const filters = parseFilters(search.attr);
  const { sort, body } = useListBody(search, spanColumns([]), { by: "start_time", desc: true });
  const { search: _name, ...rest } = body;
  const traceId = asTraceId(search.q ?? "");
  const query = usePost("/api/spans", {
    ...rest,
    query: traceId ? undefined : search.q,
    traceId: traceId ?? undefined,
    serviceName: search.service,
    kind: search.kind,
    status: search.status,
    minDurationMs: search.min,
    maxDurationMs: search.max,
    attributeFilters: filters,
    rootsOnly: !search.all && !traceId ? true : undefined,
  });
  const look = (q: string) => patch({ q: q || undefined });
  const services = [...new Set([...(query.data?.services ?? []), ...(search.service ? [search.service] : [])])].filter(
    Boolean,
  );
  const filtered = !!(
    search.q ||
    search.service ||
    search.kind !== undefined ||
    search.status !== undefined ||
    search.min ||
    search.max ||
    filters.length
  );
  return (
    <>
      <PageHead
        title="Traces"
        sub={
          search.all
            ? "Every stored span; a row opens its trace."
            : "Traces by their first span. A query finds a trace by any of its spans; a row opens the waterfall."
        }
      />
      <Toolbar>
        <QueryBar
          rows="span"
          label="Search spans"
          placeholder="Words of the name, a trace id, or duration>200ms db.system.name:*"
          value={search.q ?? ""}
          error={query.error}
          onSearch={look}
        />
        <Segmented
          label="Which spans"
          value={search.all ? "all" : "roots"}
          options={[
            { value: "roots", label: "Traces" },
            { value: "all", label: "All spans" },
          ]}
          onChange={(value) => patch({ all: value === "all" || undefined })}
        />
        <Select
          label="Service"
          value={search.service ?? ""}
          options={[{ value: "", label: "All services" }, ...services.map((name) => ({ value: name, label: name }))]}
          onChange={(service) => patch({ service: service || undefined })}
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
      <div className="mx-4 mb-6 flex gap-3 max-xl:flex-col">
        {!traceId && <Facets rows="span" query={search.q ?? ""} onSearch={look} />}
        <div className="panel min-w-0 flex-1 self-start overflow-x-auto max-xl:w-full">
          <QueryView query={query}>
            {(page) =>
              page.data?.length ? (
                <>
                  {page.isPartial && (
                    <p className="border-line border-b bg-warnsoft px-3 py-1.5">
                      More spans match than are looked at: traces whose first span does not match itself are of the
                      latest 50,000 matching spans. Narrow the time range or the filters for the rest.
                    </p>
                  )}
                  <DataTable
                    label="Spans"
                    columns={spanColumns(page.data)}
                    rows={page.data}
                    rowKey={(row) => row.traceId + row.spanId}
                    sort={sort}
                  />
                  <Pager pagination={page.pagination} noun={search.all ? "spans" : "traces"} />
                </>
              ) : (
                <NoData
                  what={search.all ? "spans" : "traces"}
                  about="Every accepted span is stored and can be searched here."
                  filtered={filtered}
                  onClear={() =>
                    patch({
                      q: undefined,
                      service: undefined,
                      kind: undefined,
                      status: undefined,
                      min: undefined,
                      max: undefined,
                      attr: undefined,
                    })
                  }
                />
              )
            }
          </QueryView>
        </div>
      </div>
    </>
  );
}
