// Demo data: offered while no project has received data, and marked on every page of its project.
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FlaskConical } from "lucide-react";
import { useEffect, useRef } from "react";
import type { ProjectExtra } from "../api/account-types";
import { useDemo, useDemoOrganization, useLoadDemo, useRemoveDemo } from "../api/demo";
import { count } from "../model/format";
import { asRole, mayManage } from "../model/roles";
import type { DemoView } from "../model/types";
import { MutationButton, Problem } from "./MutationButton";

/** Shown to owners and admins of an organization whose projects have received no data. */
export function DemoOffer({ organizationId, big }: { organizationId?: number; big?: boolean }) {
  const managed = useDemoOrganization(organizationId);
  const demo = useDemo(managed).data;
  if (managed === undefined || !demo) return null;
  if (demo.state !== "none" && demo.projectId)
    return (
      <Link to="/p/$pid" params={{ pid: demo.projectId }} className={`btn ${big ? "btn-big" : ""}`}>
        <FlaskConical size={14} aria-hidden /> Open the demo data
      </Link>
    );
  return demo.isEmpty ? <LoadButton organizationId={managed} big={big} /> : null;
}

/** The offer as a card with an explanation. */
export function DemoCard({ organizationId }: { organizationId: number }) {
  const managed = useDemoOrganization(organizationId);
  const demo = useDemo(managed).data;
  if (!demo || (demo.state === "none" && !demo.isEmpty)) return null;
  return (
    <section aria-label="Demo data" className="panel space-y-3 p-4">
      <h2 className="flex items-center gap-2 font-medium">
        <FlaskConical size={16} aria-hidden className="text-ink2" /> Look around first
      </h2>
      <p className="text-ink2">
        An hour of a fictional shop’s traffic, in a project of its own: seven services, a slow deploy, errors, tasks and
        an assistant. One click removes it again.
      </p>
      <DemoOffer organizationId={organizationId} />
    </section>
  );
}

function LoadButton({ organizationId, big, again }: { organizationId: number; big?: boolean; again?: boolean }) {
  const load = useLoadDemo(organizationId);
  return (
    <>
      <MutationButton of={load} className={`btn ${big ? "btn-big" : ""}`} busy="Loading…" onClick={() => load.mutate()}>
        <FlaskConical size={14} aria-hidden /> {again ? "Load it again" : "Load demo data"}
      </MutationButton>
      <Problem of={load} />
    </>
  );
}

/** Banner above every page of the project with the demo data. */
export function DemoBanner({ project }: { project: ProjectExtra }) {
  const demo = useDemo(project.organizationId).data;
  const manages = mayManage(asRole(project.role));
  const remove = useRemoveDemo(project);
  const client = useQueryClient();
  // Refetches the page's data when the first demo data is loaded and when all of it is.
  const isLoading = demo?.state === "loading" && demo.projectId === project.id;
  const part = isLoading ? (demo.percent > 0 ? "some" : "none") : "all";
  const before = useRef(part);
  useEffect(() => {
    if (before.current !== part) void client.invalidateQueries({ queryKey: [project.id] });
    before.current = part;
  }, [client, part, project.id]);
  const broken = demo?.state === "interrupted" || demo?.state === "failed";
  return (
    <section
      aria-label="Demo data"
      className={`border-line border-b px-4 py-1.5 ${broken ? "bg-warnsoft" : "bg-accentsoft"}`}
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
        <FlaskConical size={15} aria-hidden className={`shrink-0 ${broken ? "text-warn" : "text-accent"}`} />
        <p role="status" className="min-w-48 flex-1">
          <span className="font-medium">This is demo data.</span> {words(demo)}
        </p>
        {demo?.state === "loading" && (
          <progress className="progress" aria-label="Demo data loaded" max={100} value={demo.percent} />
        )}
        {manages && (
          <span className="flex flex-wrap gap-2">
            {broken && <LoadButton organizationId={project.organizationId} again />}
            <MutationButton of={remove} busy="Removing…" onClick={() => remove.mutate()}>
              Remove demo data
            </MutationButton>
          </span>
        )}
      </div>
      <div className="mt-1.5 empty:hidden">
        <Problem of={remove} />
      </div>
    </section>
  );
}

function words(demo: DemoView | undefined): string {
  switch (demo?.state) {
    case "loading":
      return `It is being loaded: ${demo.percent} %, ${count(demo.spans)} spans so far.`;
    case "interrupted":
      return "The server stopped while it was being loaded, so some of it is missing.";
    case "failed":
      return `It could not be loaded: ${demo.message ?? "the server gives no reason"}.`;
    default:
      return "A fictional shop made it up. It counts in no other project.";
  }
}
