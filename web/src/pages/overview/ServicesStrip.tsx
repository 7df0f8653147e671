// The services of the project: rate, errors, slow calls and version of each, with a link to its page.
import { Link } from "@tanstack/react-router";
import { useGet, usePost, useProjectId } from "../../api/hooks";
import { useRange } from "../../api/range";
import { durationNs, NONE, plural } from "../../model/format";
import { changeChip, changeSentence } from "../../model/open-changes";
import { errorRate, type MapNode, perMinute } from "../../model/service-map";
import type { ChangeCard } from "../../model/types";
import { useChangedServices } from "../../parts/OpenChange";
import { Section } from "../../parts/Page";
import { ServiceName } from "../../parts/ServiceName";
import { QueryView, SkeletonBox } from "../../parts/states";
import { ErrorRate } from "../entities/columns";

const SHOWN = 8;
/** From this share of errors on, a service precedes those that serve more calls. */
const FAILING = 0.05;

export function ServicesStrip() {
  const pid = useProjectId();
  const { body } = useRange();
  const query = usePost("/api/services/map", body);
  return (
    <Section
      title="Services"
      flush
      actions={
        <Link to="/p/$pid/services" params={{ pid }} className="link">
          Map of services
        </Link>
      }
    >
      <QueryView query={query} skeleton={<SkeletonBox height={68} />}>
        {(map) => <Services services={ranked(map.nodes)} leftOut={map.nodesLeftOut} />}
      </QueryView>
    </Section>
  );
}

/** Named services that served calls: failing ones first, then by calls. */
function ranked(nodes: MapNode[]): MapNode[] {
  const isFailing = ({ stats }: MapNode) => Number(errorRate(stats) >= FAILING);
  return nodes
    .filter((node) => node.kind === "service" && node.name && node.stats.calls > 0)
    .sort((a, b) => isFailing(b) - isFailing(a) || b.stats.calls - a.stats.calls);
}

function Services({ services, leftOut }: { services: MapNode[]; leftOut: number }) {
  const { body } = useRange();
  const known = useGet("/api/services", {
    query: { from: body.fromDate, to: body.toDate },
    enabled: services.length > 0,
  });
  const versions = new Map((known.data?.services ?? []).map((service) => [service.name, service.version]));
  const changed = useChangedServices();
  if (!services.length)
    return <p className="px-3 py-3 text-ink2">No service answered a request or a message in this time range.</p>;
  const more = services.length - SHOWN + leftOut;
  return (
    <>
      <ul className="grid overflow-hidden sm:grid-cols-2 xl:grid-cols-4" aria-label="Services">
        {services.slice(0, SHOWN).map((node) => (
          <Service
            key={node.id}
            name={node.name}
            stats={changed.get(node.name)?.stats ?? node.stats}
            change={changed.get(node.name)?.card}
            version={versions.get(node.name)}
          />
        ))}
      </ul>
      {more > 0 && (
        <p className="px-3 py-2 text-caption text-ink2">
          {plural(more, "more service or dependency", "more services and dependencies")} on the map.
        </p>
      )}
    </>
  );
}

interface ServiceProps {
  name: string;
  /** Of the range, or since the change. */
  stats: MapNode["stats"];
  change?: ChangeCard;
  version?: string | null;
}

function Service({ name, stats, change, version }: ServiceProps) {
  const pid = useProjectId();
  const { span } = useRange();
  return (
    <li className="-mb-px -ml-px min-w-0 border-line border-b border-l">
      <Link
        to="/p/$pid/services/$name"
        params={{ pid, name }}
        preload={false}
        className="block min-w-0 px-3 py-2.5 hover:bg-hover"
      >
        <span className="flex min-w-0 items-center justify-between gap-2 font-medium">
          <ServiceName name={name} />
          <span className="max-w-[45%] truncate font-normal text-caption text-ink2" title={version ?? undefined}>
            {version || NONE}
          </span>
        </span>
        <span className="mt-1 flex flex-wrap gap-x-3 text-caption text-ink2">
          <span>{perMinute(stats)}</span>
          <span>
            <ErrorRate errors={stats.errors} all={stats.calls} /> errors
          </span>
          <span>p95 {durationNs(stats.p95Duration)}</span>
          {change && (
            <span className="chip chip-error" title={changeSentence(change, span.toMs)}>
              {changeChip(change, span.toMs)}
            </span>
          )}
        </span>
      </Link>
    </li>
  );
}
