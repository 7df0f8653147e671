// Tables of services, of what they depend on, and of the calls between them.
import { Link } from "@tanstack/react-router";
import { useProjectId } from "../../api/hooks";
import { count, durationNs, NONE } from "../../model/format";
import type { Sort } from "../../model/search";
import {
  edgeSearch,
  edgeWords,
  errorRate,
  KIND_WORDS,
  type MapEdge,
  type MapNode,
  perMinute,
  shown,
} from "../../model/service-map";
import type { ChangeCard, ServiceMap } from "../../model/types";
import type { Column } from "../../parts/DataTable";
import { ChangeChip } from "../../parts/OpenChange";
import { ServiceName } from "../../parts/ServiceName";
import { ErrorRate } from "../entities/columns";
import { NodeLink } from "./MapDrawing";

export type MapOrder = "name" | "kind" | "to" | "calls" | "errors" | "p50" | "p95" | "versions";

/** An edge with its nodes. */
export interface Call extends MapEdge {
  caller: MapNode;
  callee: MapNode;
}

export function callsOf({ nodes, edges }: Pick<ServiceMap, "nodes" | "edges">): Call[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return edges.flatMap((edge) => {
    const [caller, callee] = [byId.get(edge.from), byId.get(edge.to)];
    return caller && callee ? [{ ...edge, caller, callee }] : [];
  });
}

type Value = string | number;
const statistics = ({ stats }: { stats: MapEdge["stats"] }): Partial<Record<MapOrder, Value>> => ({
  calls: stats.calls,
  errors: errorRate(stats),
  p50: stats.p50Duration ?? -1,
  p95: stats.p95Duration ?? -1,
});

/** Rows in the order of a column; equal rows keep their order. */
function sorted<Row>(rows: Row[], sort: Sort<MapOrder>, values: (row: Row) => Partial<Record<MapOrder, Value>>): Row[] {
  const sign = sort.desc ? -1 : 1;
  const of = new Map(rows.map((row) => [row, values(row)[sort.by] ?? ""]));
  return rows.toSorted((a, b) => {
    const [x, y] = [of.get(a) ?? "", of.get(b) ?? ""];
    return x < y ? -sign : x > y ? sign : 0;
  });
}

export function sortedNodes(nodes: MapNode[], sort: Sort<MapOrder>): MapNode[] {
  return sorted(nodes, sort, (node) => ({
    ...statistics(node),
    name: shown(node).toLowerCase(),
    kind: KIND_WORDS[node.kind],
    versions: node.versions,
  }));
}

export function sortedCalls(calls: Call[], sort: Sort<MapOrder>): Call[] {
  return sorted(calls, sort, (call) => ({
    ...statistics(call),
    name: shown(call.caller).toLowerCase(),
    to: shown(call.callee).toLowerCase(),
  }));
}

export function NodeName({ node }: { node: MapNode }) {
  return (
    <NodeLink node={node} className="over-row link min-w-0 max-w-full">
      {node.kind === "service" && node.name ? (
        <ServiceName name={node.name} />
      ) : (
        <span className="[overflow-wrap:anywhere]">{shown(node)}</span>
      )}
    </NodeLink>
  );
}

function TracesLink({ call }: { call: Call }) {
  const pid = useProjectId();
  return (
    <Link
      to="/p/$pid/traces"
      params={{ pid }}
      search={{ q: edgeSearch(call.caller, call.callee) } as never}
      preload={false}
      className="over-row link"
      aria-label={`Traces in which ${edgeWords(call.caller, call.callee, call.stats)}`}
    >
      Traces
    </Link>
  );
}

const statColumns: Column<{ stats: MapEdge["stats"] }, MapOrder>[] = [
  {
    key: "rate",
    head: "Rate",
    sort: "calls",
    num: true,
    width: "88px",
    cell: ({ stats }) => <span title={`${count(stats.calls)} calls`}>{perMinute(stats)}</span>,
  },
  {
    key: "errors",
    head: "Errors",
    sort: "errors",
    num: true,
    width: "80px",
    help: "Calls answered with an HTTP status of 500 and above, or with the status ERROR and none of 400 to 499.",
    cell: ({ stats }) => <ErrorRate errors={stats.errors} all={stats.calls} />,
  },
  {
    key: "p50",
    head: "Usual p50",
    sort: "p50",
    num: true,
    width: "92px",
    card: "hide",
    className: "max-lg:hidden",
    cell: ({ stats }) => durationNs(stats.p50Duration),
  },
  {
    key: "p95",
    head: "Slow p95",
    sort: "p95",
    num: true,
    width: "88px",
    cell: ({ stats }) => durationNs(stats.p95Duration),
  },
];

/** `changeOf`: the open change of a service. */
export const nodeColumns = (
  changeOf: (node: MapNode) => ChangeCard | undefined = () => undefined,
): readonly Column<MapNode, MapOrder>[] => [
  {
    key: "name",
    head: "Name",
    sort: "name",
    ascFirst: true,
    card: "main",
    cell: (node) => {
      const change = changeOf(node);
      return (
        <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5">
          <NodeName node={node} />
          {change && <ChangeChip card={change} suffers={false} />}
        </div>
      );
    },
  },
  {
    key: "kind",
    head: "Kind",
    sort: "kind",
    ascFirst: true,
    width: "128px",
    card: "half",
    className: "text-ink2",
    cell: (node) => KIND_WORDS[node.kind],
  },
  ...statColumns,
  {
    key: "versions",
    head: "Versions",
    sort: "versions",
    num: true,
    width: "88px",
    help: "Versions of the service that were live in the time range.",
    className: "max-lg:hidden",
    cell: (node) => (node.kind === "service" && node.versions ? count(node.versions) : NONE),
  },
];

const tracesColumn: Column<Call, MapOrder> = {
  key: "traces",
  head: "",
  width: "72px",
  cell: (call) => <TracesLink call={call} />,
};

export const CALL_COLUMNS: readonly Column<Call, MapOrder>[] = [
  {
    key: "from",
    head: "From",
    sort: "name",
    ascFirst: true,
    card: "main",
    cell: (call) => <NodeName node={call.caller} />,
  },
  { key: "to", head: "To", sort: "to", ascFirst: true, card: "half", cell: (call) => <NodeName node={call.callee} /> },
  ...statColumns,
  tracesColumn,
];

/** Columns of the callers or the dependencies of one service, unsorted. */
export function neighbourColumns(end: "caller" | "callee"): readonly Column<Call>[] {
  const plain = [...statColumns.filter((column) => column.key !== "p50"), tracesColumn] as Column<Call, MapOrder>[];
  return [
    {
      key: "name",
      head: end === "caller" ? "Caller" : "Depends on",
      card: "main" as const,
      cell: (call: Call) => <NodeName node={call[end]} />,
    },
    ...plain.map(({ sort: _, ...column }) => column),
  ];
}
