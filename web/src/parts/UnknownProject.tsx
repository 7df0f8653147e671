import { Link } from "@tanstack/react-router";
import { useBundle } from "../api/account";

/** The address names a project that this user cannot open. */
export function UnknownProject() {
  const bundle = useBundle();
  return (
    <div className="mx-auto max-w-md p-8">
      <h1 tabIndex={-1} className="text-title font-semibold">
        No such project
      </h1>
      <p className="mt-2 text-ink2">It may have been removed, or you are not a member of it. Projects you can open:</p>
      <ul className="mt-3 space-y-1">
        {bundle?.projects.map((project) => (
          <li key={project.id}>
            <Link to="/p/$pid" params={{ pid: project.id }} className="link">
              {project.name}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
