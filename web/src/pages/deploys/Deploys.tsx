// The deploys of a time range: reported ones, and the first record of each version.
import { Link } from "@tanstack/react-router";
import { ExternalLink } from "lucide-react";
import { usePost, useProjectId } from "../../api/hooks";
import { useRange } from "../../api/range";
import { NONE } from "../../model/format";
import { exactTime } from "../../model/time";
import type { Deploy } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { type Column, DataTable } from "../../parts/DataTable";
import { NoData } from "../../parts/NoData";
import { PageHead } from "../../parts/Page";
import { ServiceName } from "../../parts/ServiceName";
import { QueryView } from "../../parts/states";
import { Chip } from "../../ui/Chip";

export function DeploysPage() {
  const { body } = useRange();
  const query = usePost("/api/deploys/list", body);
  return (
    <>
      <PageHead
        title="Deploys"
        sub="The first record of each version of a service, and what your build pipeline reports."
      />
      <div className="panel mx-4 mb-6 overflow-x-auto">
        <QueryView query={query}>
          {({ data, truncated }) => {
            return data.length ? (
              <>
                <DataTable
                  label="Deploys"
                  columns={COLUMNS}
                  rows={data}
                  rowKey={(row) => `${row.service} ${row.environment} ${row.version} ${row.time}`}
                />
                {truncated && <p className="px-3 py-2 text-ink2">Earlier deploys of this time range are left out.</p>}
              </>
            ) : (
              <NoData
                what="deploys"
                about="A version is listed from the first record whose resource has service.version. A pipeline can report deploys with POST /api/deploys."
              />
            );
          }}
        </QueryView>
      </div>
    </>
  );
}

const COLUMNS: readonly Column<Deploy>[] = [
  {
    key: "version",
    head: "Version",
    card: "main",
    cell: (row) => (
      <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
        <VersionLink row={row} />
        {row.reported && <Chip tip="Reported with POST /api/deploys">reported</Chip>}
        {row.previous === null && <Chip tip="No version of this service is known before it.">first known</Chip>}
      </span>
    ),
  },
  { key: "service", head: "Service", width: "20%", card: "half", cell: (row) => <ServiceName name={row.service} /> },
  {
    key: "environment",
    head: "Environment",
    width: "120px",
    className: "[overflow-wrap:anywhere]",
    cell: (row) => row.environment || NONE,
  },
  {
    key: "previous",
    head: "Before",
    width: "120px",
    className: "text-ink2 [overflow-wrap:anywhere]",
    cell: (row) => row.previous ?? NONE,
  },
  {
    key: "commit",
    head: "Commit",
    width: "22%",
    card: "half",
    className: "max-md:hidden [overflow-wrap:anywhere]",
    cell: (row) => <Commit row={row} />,
  },
  {
    key: "time",
    head: "Deployed",
    num: true,
    width: "110px",
    className: "text-ink2",
    cell: (row) => <Ago at={row.time} />,
  },
];

function VersionLink({ row: { service, version } }: { row: Deploy }) {
  const pid = useProjectId();
  const className = "row-link font-medium [overflow-wrap:anywhere]";
  if (!service) return <span className="font-medium [overflow-wrap:anywhere]">{version}</span>;
  return (
    <Link to="/p/$pid/deploys/$service/$version" params={{ pid, service, version }} data-row-link className={className}>
      {version}
    </Link>
  );
}

function Commit({ row: { commit, author, url, firstSeen } }: { row: Deploy }) {
  const what = [commit, author].filter(Boolean).join(" by ");
  if (!what && !url) return <span className="text-ink2">{firstSeen ? "" : NONE}</span>;
  if (!url) return <span>{what}</span>;
  return (
    <a
      href={url}
      target="_blank"
      rel="noreferrer"
      className="over-row link inline-flex items-center gap-1"
      title={firstSeen ? `First seen ${exactTime(firstSeen)}` : undefined}
    >
      {what || "open"}
      <ExternalLink size={12} aria-label="opens another site" />
    </a>
  );
}
