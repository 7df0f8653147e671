// The version with which a name was first seen.
import { Link } from "@tanstack/react-router";
import { usePost, useProjectId } from "../api/hooks";
import type { FirstVersionKind } from "../model/types";

/** "since checkout 1.42.0" as a link to the version; nothing when it is as old as the data. */
export function SinceVersion({ kind, name }: { kind: FirstVersionKind; name: string }) {
  const pid = useProjectId();
  const { data } = usePost("/api/first-version", { kind, name }, { keep: false });
  if (!data?.version) return null;
  const { service, version } = data;
  if (!service) return <span>since {version}</span>;
  return (
    <span>
      since{" "}
      <Link to="/p/$pid/deploys/$service/$version" params={{ pid, service, version }} className="link">
        {service} {version}
      </Link>
    </span>
  );
}
