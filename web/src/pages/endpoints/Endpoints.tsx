import { getRouteApi } from "@tanstack/react-router";
import { usePatchSearch } from "../../parts/listSearch";
import { Segmented } from "../../ui/Segmented";
import { EntityList } from "../entities/EntityList";
import { endpointColumns } from "../entities/endpointColumns";

const route = getRouteApi("/p/$pid/endpoints");

export function EndpointsPage() {
  const search = route.useSearch();
  const patch = usePatchSearch();
  return (
    <EntityList
      kind="endpoint"
      title="Endpoints"
      sub="Requests your services answered, the most harmful first."
      what="endpoints"
      noun="endpoints"
      about="Each HTTP request a service answers becomes a row here, grouped by method and route."
      search={search}
      columns={endpointColumns}
      fallback={{ by: "impact", desc: true }}
      nameOf={(row) => row.endpoint}
      body={{ rootFilter: search.root ?? "" }}
      isFiltered={!!search.root}
      cleared={{ root: undefined }}
      filters={
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
      }
    />
  );
}
