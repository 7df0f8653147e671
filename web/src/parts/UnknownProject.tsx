import { Link } from "@tanstack/react-router";
import { useBundle } from "../api/account";
import { mayCreateProject } from "../model/roles";

/** The address names a project that this user cannot open, or there is none yet. */
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
            : "Nobody has made one, or none is shared with you. Ask an owner or admin of your organisation."}
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
        <button type="button" className="btn btn-primary mt-4" onClick={onNew}>
          New project
        </button>
      )}
    </div>
  );
}
