import { Link } from "@tanstack/react-router";
import { useProjectId } from "../api/hooks";
import { Empty } from "./states";

const LISTS = {
  endpoint: { to: "/p/$pid/endpoints", words: "All endpoints" },
  task: { to: "/p/$pid/tasks", words: "All tasks" },
  "AI trace": { to: "/p/$pid/ai", words: "All AI traces" },
} as const;

/** Replaces the page of an entity name that was never recorded. */
export function NeverSeen({ what, name }: { what: keyof typeof LISTS; name: string }) {
  const pid = useProjectId();
  const { to, words } = LISTS[what];
  return (
    <Empty
      title={`No ${what} of this name`}
      heading
      action={
        <Link to={to} params={{ pid }} className="btn btn-primary">
          {words}
        </Link>
      }
    >
      This project has never recorded <span className="font-mono text-dense [overflow-wrap:anywhere]">{name}</span>. The
      link may be old or mistyped, or what it named is older than the project keeps.
    </Empty>
  );
}
