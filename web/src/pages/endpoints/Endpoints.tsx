import { getRouteApi } from "@tanstack/react-router";
import { usePost } from "../../api/hooks";
import { plural } from "../../model/format";
import { DataTable } from "../../parts/DataTable";
import { useListBody, usePatchSearch } from "../../parts/listSearch";
import { NoData } from "../../parts/NoData";
import { PageHead, Toolbar } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { useRange } from "../../parts/range";
import { QueryView } from "../../parts/states";
import { SearchBox } from "../../ui/SearchBox";
import { Segmented } from "../../ui/Segmented";
import { endpointColumns } from "./columns";
import { EntityChart } from "./EntityChart";

const route = getRouteApi("/p/$pid/endpoints");
const SORTS = [
  "impact",
  "count",
  "p50_duration",
  "p95_duration",
  "p99_duration",
  "last_seen",
  "endpoint",
  "server_error_rate",
] as const;

export function EndpointsPage() {
  const search = route.useSearch();
  const patch = usePatchSearch();
  const { span } = useRange();
  const { sort, body } = useListBody(search, SORTS, { by: "impact", desc: true });
  const list = usePost("/api/endpoints/grouped", { ...body, rootFilter: search.root ?? "" });
  return (
    <>
      <PageHead title="Endpoints" sub="Requests your services answered, the most harmful first." />
      <div className="px-4 pb-4">
        <EntityChart
          kind="endpoints"
          metric={search.metric}
          onMetric={(metric) => patch({ metric, page: search.page }, true)}
        />
      </div>
      <Toolbar>
        <SearchBox
          label="Search endpoints"
          placeholder="Search by name"
          value={search.q ?? ""}
          onSearch={(q) => patch({ q: q || undefined }, true)}
        />
        <Segmented
          label="Which requests"
          value={search.root ?? ""}
          options={[
            { value: "", label: "All" },
            { value: "root", label: "From outside" },
            { value: "non_root", label: "From other services" },
          ]}
          onChange={(root) => patch({ root: root || undefined })}
        />
      </Toolbar>
      <div className="mx-4 mb-6 panel overflow-x-auto">
        <QueryView query={list}>
          {(page) =>
            page.data?.length ? (
              <>
                <DataTable
                  label={`Endpoints, ${plural(page.pagination.total, "name")}`}
                  columns={endpointColumns(span)}
                  rows={page.data}
                  rowKey={(row) => row.endpoint}
                  sort={sort}
                />
                <Pager pagination={page.pagination} noun="endpoints" />
              </>
            ) : (
              <NoData
                what="endpoints"
                about="Each HTTP request a service answers becomes a row here, grouped by method and route."
                filtered={!!(search.q || search.root)}
                onClear={() => patch({ q: undefined, root: undefined })}
              />
            )
          }
        </QueryView>
      </div>
    </>
  );
}
