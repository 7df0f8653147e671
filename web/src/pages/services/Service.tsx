// One service: calls, errors and durations over time, its neighbours on the map, versions, processes, and its own
// endpoints, tasks and new issues.
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { usePost, useProjectId } from "../../api/hooks";
import { useRange } from "../../api/range";
import { count, durationNs, NONE, percent } from "../../model/format";
import { valuesText } from "../../model/global-filter";
import { mapSince, type ServedSince } from "../../model/open-changes";
import { termOf } from "../../model/query";
import { errorLevel, errorRate, perMinute } from "../../model/service-map";
import type {
  ChangeCard,
  EndpointGroup,
  IssueGroup,
  ServiceDetail,
  ServiceInstance,
  ServiceVersion,
  TaskGroup,
} from "../../model/types";
import { Ago } from "../../parts/Ago";
import { type Column, DataTable } from "../../parts/DataTable";
import { IssueTitle } from "../../parts/IssueCells";
import { ChangeChip, SinceNote, useChangedServices } from "../../parts/OpenChange";
import { PageHead, Section, Stats } from "../../parts/Page";
import { QueryView, SkeletonBox } from "../../parts/states";
import { endpointColumns } from "../entities/endpointColumns";
import { RankedTable } from "../entities/RankedTable";
import { taskColumns } from "../entities/taskColumns";
import { callsOf, neighbourColumns } from "./columns";
import { MapDrawing } from "./MapDrawing";
import { ServiceCharts } from "./ServiceCharts";

const route = getRouteApi("/p/$pid/services/$name");
const ROWS = 8;

export function ServicePage() {
  const { name } = route.useParams();
  const { body } = useRange();
  const query = usePost("/api/services/detail", { ...body, service: name });
  const change = useChangedServices().get(name);
  return (
    <>
      <PageHead
        title={name}
        sub={<>Service {change && <ChangeChip card={change.card} suffers={false} />}</>}
        actions={<Links name={name} />}
      />
      <div className="space-y-4 px-4 pb-6">
        <QueryView query={query} skeleton={<SkeletonBox height={420} />}>
          {(service) => <Body service={service} change={change} />}
        </QueryView>
        <Entities name={name} />
      </div>
    </>
  );
}

function Links({ name }: { name: string }) {
  const pid = useProjectId();
  return (
    <>
      <Link to="/p/$pid/traces" params={{ pid }} search={{ service: valuesText([name]) } as never} className="btn">
        Traces
      </Link>
      <Link to="/p/$pid/logs" params={{ pid }} search={{ service: valuesText([name]) } as never} className="btn">
        Logs
      </Link>
      <Link to="/p/$pid/issues" params={{ pid }} search={{ q: termOf("service", name) } as never} className="btn">
        Issues
      </Link>
      <Link to="/p/$pid/deploys" params={{ pid }} search={{ service: valuesText([name]) } as never} className="btn">
        Deploys
      </Link>
    </>
  );
}

function Body({ service, change }: { service: ServiceDetail; change?: ServedSince & { card: ChangeCard } }) {
  const stats = change?.stats ?? service.stats;
  const map = mapSince(service.map, new Map(change && [[service.name, change]]));
  const own = `service:${service.name}`;
  const calls = callsOf(map);
  const tone = errorLevel(stats);
  return (
    <div className="space-y-4">
      <div>
        <Stats
          items={[
            { label: "Calls served", value: perMinute(stats), help: `${count(stats.calls)} calls` },
            { label: "Errors", value: percent(errorRate(stats)), tone: tone === "ok" ? undefined : tone },
            { label: "Usual (p50)", value: durationNs(stats.p50Duration) },
            { label: "Slow (p95)", value: durationNs(stats.p95Duration) },
          ]}
        />
        {change?.stats && <SinceNote card={change.card} />}
      </div>
      <ServiceCharts service={service} />
      {calls.length > 0 && (
        <section className="panel overflow-hidden" aria-label="Map">
          <MapDrawing map={map} label={`Neighbours of ${service.name}`} centre={service.name} />
        </section>
      )}
      <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-2">
        <Listed title="Callers" none="No service with spans in this project calls it.">
          {rowsOf(
            calls.filter((call) => call.to === own),
            (rows) => (
              <DataTable
                label="Callers"
                columns={neighbourColumns("caller")}
                rows={rows}
                rowKey={(call) => call.from}
              />
            ),
          )}
        </Listed>
        <Listed title="Dependencies" none="It calls no database, queue, host or other service.">
          {rowsOf(
            calls.filter((call) => call.from === own),
            (rows) => (
              <DataTable
                label="Dependencies"
                columns={neighbourColumns("callee")}
                rows={rows}
                rowKey={(call) => call.to}
              />
            ),
          )}
        </Listed>
        <Listed title="Versions" none="Its resources have no service.version.">
          {rowsOf(service.versions, (rows) => (
            <DataTable
              label="Versions"
              columns={versionColumns(service.name)}
              rows={rows}
              rowKey={(row) => `${row.version} ${row.environment} ${row.time}`}
            />
          ))}
        </Listed>
        <Listed title={`Instances in the last ${service.instanceMinutes} minutes`} none="No spans in these minutes.">
          {rowsOf(service.instances, (rows) => (
            <>
              <DataTable
                label="Instances"
                columns={INSTANCE_COLUMNS}
                rows={rows}
                rowKey={(row) => `${row.name} ${row.host} ${row.version} ${row.lastSeen}`}
              />
              {service.instancesTruncated && <p className="px-3 py-2 text-ink2">Further instances are left out.</p>}
            </>
          ))}
        </Listed>
      </div>
    </div>
  );
}

/** A panel with its rows, or a sentence. */
function Listed({ title, none, children }: { title: string; none: string; children: ReactNode }) {
  return (
    <Section title={title} flush>
      {children ?? <p className="px-3 py-3 text-ink2">{none}</p>}
    </Section>
  );
}

function rowsOf<Row>(rows: Row[], show: (rows: Row[]) => ReactNode): ReactNode {
  return rows.length ? show(rows) : null;
}

function versionColumns(service: string): readonly Column<ServiceVersion>[] {
  return [
    {
      key: "version",
      head: "Version",
      card: "main",
      cell: (row) => <VersionLink service={service} version={row.version} />,
    },
    { key: "environment", head: "Environment", card: "half", cell: (row) => row.environment || NONE },
    { key: "time", head: "Live since", num: true, width: "120px", cell: (row) => <Ago at={row.time} /> },
  ];
}

function VersionLink({ service, version }: { service: string; version: string }) {
  const pid = useProjectId();
  return (
    <Link
      to="/p/$pid/deploys/$service/$version"
      params={{ pid, service, version }}
      className="link [overflow-wrap:anywhere]"
    >
      {version}
    </Link>
  );
}

const INSTANCE_COLUMNS: readonly Column<ServiceInstance>[] = [
  { key: "name", head: "Instance", card: "main", mono: true, cell: (row) => row.name || "not named" },
  { key: "host", head: "Host", card: "half", className: "[overflow-wrap:anywhere]", cell: (row) => row.host || NONE },
  { key: "version", head: "Version", className: "[overflow-wrap:anywhere]", cell: (row) => row.version || NONE },
  { key: "spans", head: "Spans", num: true, width: "80px", cell: (row) => count(row.spans) },
  { key: "last", head: "Last seen", num: true, width: "110px", cell: (row) => <Ago at={row.lastSeen} /> },
];

const ISSUE_COLUMNS: readonly Column<IssueGroup>[] = [
  { key: "issue", head: "Issue", card: "main", cell: (row) => <IssueTitle row={row} /> },
  { key: "count", head: "Events", num: true, width: "80px", cell: (row) => count(row.count) },
  { key: "first", head: "First seen", num: true, width: "110px", cell: (row) => <Ago at={row.firstSeen} /> },
];

/** Endpoints and tasks by impact, and the issues that were seen first in the last. */
function Entities({ name }: { name: string }) {
  const { body, span } = useRange();
  const page = {
    ...body,
    query: termOf("service", name),
    search: "",
    sortDirection: "desc" as const,
    pagination: { page: 1, pageSize: ROWS },
  };
  const endpoints = usePost("/api/endpoints/grouped", { ...page, orderBy: "impact" });
  const tasks = usePost("/api/tasks/grouped", { ...page, orderBy: "impact" });
  const issues = usePost("/api/exception-stack-traces", { ...page, orderBy: "first_seen", searchType: "all" });
  return (
    <>
      <Rows title="Endpoints by impact" query={endpoints} none="It serves no HTTP requests.">
        {(rows: EndpointGroup[]) => (
          <RankedTable
            kind="endpoint"
            label="Endpoints"
            columns={endpointColumns(span)}
            rows={rows}
            nameOf={(row) => row.endpoint}
            query={page.query}
          />
        )}
      </Rows>
      <Rows title="Tasks by impact" query={tasks} none="It runs no background work.">
        {(rows: TaskGroup[]) => (
          <RankedTable
            kind="task"
            label="Tasks"
            columns={taskColumns(span)}
            rows={rows}
            nameOf={(row) => row.taskName}
            query={page.query}
          />
        )}
      </Rows>
      <Rows title="Newest issues" query={issues} none="No errors in this time range.">
        {(rows: IssueGroup[]) => (
          <DataTable label="Issues" columns={ISSUE_COLUMNS} rows={rows} rowKey={(row) => row.exceptionHash} />
        )}
      </Rows>
    </>
  );
}

interface RowsProps<Row> {
  title: string;
  query: ReturnType<typeof usePost<never>>;
  none: string;
  children: (rows: Row[]) => ReactNode;
}

function Rows<Row>({ title, query, none, children }: RowsProps<Row>) {
  return (
    <Section title={title} flush>
      <QueryView query={query}>
        {(answer: { data?: Row[] | null }) =>
          answer.data?.length ? children(answer.data) : <p className="px-3 py-3 text-ink2">{none}</p>
        }
      </QueryView>
    </Section>
  );
}
