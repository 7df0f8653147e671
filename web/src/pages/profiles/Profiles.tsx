import { getRouteApi, Link } from "@tanstack/react-router";
import { usePost, useProjectId } from "../../api/hooks";
import type { OrderOf } from "../../api/routes";
import { count, plural } from "../../model/format";
import { profileTitle, profileValue } from "../../model/profiles";
import type { ProfileGroup } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { type Column, DataTable } from "../../parts/DataTable";
import { useListBody, usePatchSearch } from "../../parts/listSearch";
import { NoData } from "../../parts/NoData";
import { PageHead, Toolbar } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { QueryView } from "../../parts/states";
import { Chip } from "../../ui/Chip";
import { SearchBox } from "../../ui/SearchBox";

const route = getRouteApi("/p/$pid/profiles");

const COLUMNS: Column<ProfileGroup, OrderOf<"/api/profiles/grouped">>[] = [
  {
    key: "service",
    head: "Service",
    sort: "serviceName",
    ascFirst: true,
    card: "main",
    cell: (row) => <ServiceLink row={row} />,
  },
  {
    key: "type",
    head: "Type",
    sort: "type",
    ascFirst: true,
    card: "half",
    cell: (row) => (
      <span className="flex flex-wrap items-center gap-1.5">
        {profileTitle(row)}
        {row.isGauge && <Chip tone="plain">state</Chip>}
      </span>
    ),
  },
  {
    key: "profiles",
    head: "Profiles",
    sort: "profileCount",
    num: true,
    width: "92px",
    cell: (row) => count(row.profileCount),
  },
  {
    key: "samples",
    head: "Samples",
    sort: "sampleCount",
    num: true,
    width: "92px",
    cell: (row) => count(row.sampleCount),
  },
  {
    key: "value",
    head: "Value",
    help: "The sum over the time range; for amounts since the start of a process, the sum of differences; for a state, such as memory in use, the latest of each instance.",
    sort: "totalValue",
    num: true,
    width: "110px",
    cell: (row) => profileValue(row.totalValue, row.unit),
  },
  { key: "last", head: "Last", sort: "lastSeen", num: true, width: "84px", cell: (row) => <Ago at={row.lastSeen} /> },
];

export function ProfilesPage() {
  const search = route.useSearch();
  const patch = usePatchSearch();
  const { sort, body } = useListBody(search, COLUMNS, { by: "lastSeen", desc: true });
  const query = usePost("/api/profiles/grouped", body);
  return (
    <>
      <PageHead title="Profiles" sub="Where your services spend CPU time and memory, down to the function." />
      <Toolbar>
        <SearchBox
          label="Search profiles"
          placeholder="Service or type"
          value={search.q ?? ""}
          onSearch={(q) => patch({ q: q || undefined }, true)}
        />
      </Toolbar>
      <div className="panel mx-4 mb-6 overflow-x-auto">
        <QueryView query={query}>
          {(page) =>
            page.data.length ? (
              <>
                <DataTable
                  label={`Profiles, ${plural(page.pagination.total, "type")}`}
                  columns={COLUMNS}
                  rows={page.data}
                  rowKey={(row) => `${row.serviceName}\n${row.type}`}
                  sort={sort}
                />
                <Pager pagination={page.pagination} noun="types" />
              </>
            ) : (
              <NoData
                what="profiles"
                about={
                  <>
                    Send pprof files to <code className="font-mono text-dense">/api/profiles/ingest</code>, or OTLP
                    profiles to <code className="font-mono text-dense">/api/otel/v1development/profiles</code>.
                  </>
                }
                filtered={!!search.q}
                onClear={() => patch({ q: undefined })}
              />
            )
          }
        </QueryView>
      </div>
    </>
  );
}

function ServiceLink({ row }: { row: ProfileGroup }) {
  const pid = useProjectId();
  return (
    <Link
      to="/p/$pid/profiles/$service"
      params={{ pid, service: row.serviceName }}
      search={{ type: row.type }}
      data-row-link
      className="row-link font-medium [overflow-wrap:anywhere]"
    >
      {row.serviceName}
    </Link>
  );
}
