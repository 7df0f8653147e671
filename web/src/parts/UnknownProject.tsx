import { Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { useBundle } from "../api/account";
import { mayCreateProject } from "../model/roles";

const DemoOffer = lazy(() => import("./Demo").then((part) => ({ default: part.DemoOffer })));

/** Shown if the user cannot open the project in the URL, or if there is none yet. */
export function UnknownProject({ onNew }: { onNew: () => void }) {
  const bundle = useBundle();
  const projects = bundle?.projects ?? [];
  return (
    <div className="mx-auto max-w-md p-8">
      <h1 tabIndex={-1} className="font-semibold text-title">
        {projects.length ? "No such project" : "No projects yet"}
      </h1>
      <p className="mt-2 text-ink2">
        {projects.length
          ? "It may have been removed, or you are not a member of it. Projects you can open:"
          : mayCreateProject(bundle?.organizations)
            ? "Make the first one: it gives your applications a token to send with."
            : "Nobody has made one, or none is shared with you. Ask an owner or admin of your organization."}
      </p>
      <ul className="mt-3 space-y-1">
        {projects.map((project) => (
          <li key={project.id}>
            <Link to="/p/$pid" params={{ pid: project.id }} className="link">
              {project.name}
            </Link>
          </li>
        ))}
      </ul>
      {projects.length === 0 && mayCreateProject(bundle?.organizations) && (
        <div className="mt-4 flex flex-wrap gap-2">
          <button type="button" className="btn btn-primary" onClick={onNew}>
            New project
          </button>
          <Suspense fallback={null}>
            <DemoOffer />
          </Suspense>
        </div>
      )}
    </div>
  );
}
