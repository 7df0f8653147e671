// The services of a project: the map of the calls between them, and the same as sortable tables.
import { getRouteApi } from "@tanstack/react-router";
import { usePost } from "../../api/hooks";
import { useRange } from "../../api/range";
import { plural } from "../../model/format";
import { mapSince } from "../../model/open-changes";
import { parseSort, type Sort } from "../../model/search";
import type { MapNode } from "../../model/service-map";
import type { ServiceMap } from "../../model/types";
import { DataTable } from "../../parts/DataTable";
import { ordersOf, usePatchSearch } from "../../parts/listSearch";
import { NoData } from "../../parts/NoData";
import { useChangedServices } from "../../parts/OpenChange";
import { PageHead } from "../../parts/Page";
import { QueryView, SkeletonBox } from "../../parts/states";
import { Segmented } from "../../ui/Segmented";
import { CALL_COLUMNS, callsOf, type MapOrder, nodeColumns, sortedCalls, sortedNodes } from "./columns";
import { MapDrawing } from "./MapDrawing";

const route = getRouteApi("/p/$pid/services");
const BY_CALLS: Sort<MapOrder> = { by: "calls", desc: true };

export function ServicesPage() {
  const { body } = useRange();
  const query = usePost("/api/services/map", body);
  return (
    <>
      <PageHead
        title="Services"
        sub="Which service calls which, how often, how slowly, and with how many errors. Callers count the calls."
      />
      <div className="space-y-4 px-4 pb-6">
        <QueryView query={query} skeleton={<SkeletonBox height={420} />}>
          {(map) =>
            map.nodes.length ? (
              <Body map={map} />
            ) : (
              <div className="panel">
                <NoData
                  what="services"
                  about="A service is on the map when it sends spans of requests or calls. An edge needs spans of kind CLIENT, PRODUCER or CONSUMER with the address that they call."
                />
              </div>
            )
          }
        </QueryView>
      </div>
    </>
  );
}

function Body({ map }: { map: ServiceMap }) {
  const { sort: sortText, table = "services" } = route.useSearch();
  const patch = usePatchSearch();
  const orders = table === "calls" ? ordersOf(CALL_COLUMNS) : ordersOf(nodeColumns());
  const sort = parseSort<MapOrder>(sortText, orders, BY_CALLS);
  const changed = useChangedServices();
  const changeOf = (node: MapNode) => (node.kind === "service" ? changed.get(node.name) : undefined);
  const { nodes, edges } = mapSince(map, changed);
  const calls = callsOf({ nodes, edges });
  return (
    <div className="space-y-4">
      <section className="panel overflow-hidden" aria-label="Map">
        <MapDrawing map={{ ...map, nodes, edges }} label="Map of services" />
      </section>
      <LeftOut map={map} />
      <section className="panel overflow-hidden" aria-label="Table">
        <div className="flex min-h-10 flex-wrap items-center gap-2 border-line border-b px-3 py-1.5">
          <Segmented
            label="Rows of the table"
            value={table}
            options={[
              { value: "services", label: `Services and dependencies (${map.nodes.length})` },
              { value: "calls", label: `Calls (${calls.length})` },
            ]}
            onChange={(value) => patch({ table: value === "services" ? undefined : value, sort: undefined })}
          />
        </div>
        <div className="overflow-x-auto">
          {table === "calls" ? (
            calls.length ? (
              <DataTable
                label="Calls"
                columns={CALL_COLUMNS}
                rows={sortedCalls(calls, sort)}
                rowKey={(call) => `${call.from} ${call.to}`}
                sort={sort}
              />
            ) : (
              <p className="px-3 py-3 text-ink2">
                No service calls another one, a database or a host in this time range.
              </p>
            )
          ) : (
            <DataTable
              label="Services and dependencies"
              columns={nodeColumns((node) => changeOf(node)?.card)}
              rows={sortedNodes(nodes, sort)}
              rowKey={(node) => node.id}
              sort={sort}
            />
          )}
        </div>
      </section>
    </div>
  );
}

/** Parts that the bounded answer lacks. */
function LeftOut({ map }: { map: ServiceMap }) {
  const { nodesLeftOut, edgesLeftOut, truncated } = map;
  if (!nodesLeftOut && !edgesLeftOut && !truncated) return null;
  const parts = [
    nodesLeftOut ? `${plural(nodesLeftOut, "rarer service or dependency", "rarer services and dependencies")}` : "",
    edgesLeftOut ? plural(edgesLeftOut, "rarer edge") : "",
  ].filter(Boolean);
  return (
    <p className="text-ink2" role="note">
      {parts.length > 0 && `Not shown: ${parts.join(" and ")}. `}
      {truncated && "There are more combinations of service and address than are read: the rarest are not counted."}
    </p>
  );
}
