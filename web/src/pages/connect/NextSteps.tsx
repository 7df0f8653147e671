// Links to the filtered pages of the data that has arrived.
import { Link } from "@tanstack/react-router";
import {
  Activity,
  FileUp,
  Gauge,
  type LucideIcon,
  ScrollText,
  Sparkles,
  TriangleAlert,
  UserPlus,
  Waypoints,
} from "lucide-react";
import type { ReactNode } from "react";
import type { ProjectExtra } from "../../api/account-types";
import { useProjectId } from "../../api/hooks";
import { useMissingSymbols } from "../../api/symbols";
import { plural } from "../../model/format";
import { valuesText } from "../../model/global-filter";
import { asRole, mayManage, mayWrite } from "../../model/roles";
import { TraceLink } from "../../parts/occurrenceColumns";
import { useArrivals } from "./LiveStrip";
import { useServices } from "./Services";

export function NextSteps({ project }: { project: ProjectExtra }) {
  const pid = useProjectId();
  const answer = useServices().data;
  const last = useArrivals().data?.lastSpan;
  const has = !!answer?.services.length;
  const missing = useMissingSymbols(has).data ?? [];
  if (!answer || !has) return null;
  const { endpoints, aiTraces, issues } = answer.promoted;
  const logging = answer.services.find((one) => one.name && one.logs.lastHour > 0);
  const maps = missing.filter((one) => one.kind === "source_map").length;
  const role = asRole(project.role);
  return (
    <section aria-label="Next steps" className="panel overflow-hidden">
      <h2 className="border-line border-b px-4 py-2.5 font-medium">Next</h2>
      <ul className="divide-y divide-line">
        {last && (
          <Step icon={Waypoints}>
            <TraceLink traceId={last.traceId}>Open the latest trace</TraceLink>: where its time went, step by step
          </Step>
        )}
        {endpoints.first && (
          <Step icon={Activity}>
            <Link to="/p/$pid/endpoints/$name" params={{ pid, name: endpoints.first }} className="link">
              Look at {endpoints.first}
            </Link>
            , the busiest endpoint
          </Step>
        )}
        {issues.first && (
          <Step icon={TriangleAlert}>
            <Link to="/p/$pid/issues/$hash" params={{ pid, hash: issues.first }} className="link">
              See the most frequent exception
            </Link>{" "}
            of {plural(issues.names, "issue")}
          </Step>
        )}
        {logging && (
          <Step icon={ScrollText}>
            <Link to="/p/$pid/logs" params={{ pid }} search={{ service: valuesText([logging.name]) }} className="link">
              Read the logs of {logging.name}
            </Link>
          </Step>
        )}
        {aiTraces.names > 0 && (
          <Step icon={Sparkles}>
            <Link to="/p/$pid/ai" params={{ pid }} className="link">
              What the model calls cost
            </Link>
            , by name and model
          </Step>
        )}
        {maps > 0 && (
          <Step icon={FileUp}>
            <Link to="/p/$pid/settings/symbols" params={{ pid }} className="link">
              Upload source maps
            </Link>
            : stack traces have minified frames of {plural(maps, "script")}
          </Step>
        )}
        {mayWrite(role) && (
          <Step icon={Gauge}>
            <Link to="/p/$pid/settings" params={{ pid }} className="link">
              Set a limit
            </Link>{" "}
            on what this project may send in a day
          </Step>
        )}
        {mayManage(role) && (
          <Step icon={UserPlus}>
            <Link to="/organization" search={{ tab: "invitations", org: project.organizationId }} className="link">
              Invite a colleague
            </Link>
          </Step>
        )}
      </ul>
    </section>
  );
}

function Step({ icon: Icon, children }: { icon: LucideIcon; children: ReactNode }) {
  return (
    <li className="flex items-start gap-3 px-4 py-2">
      <Icon size={16} aria-hidden className="mt-0.5 shrink-0 text-ink2" />
      <span className="min-w-0 [overflow-wrap:anywhere]">{children}</span>
    </li>
  );
}
