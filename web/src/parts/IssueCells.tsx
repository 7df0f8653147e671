import { Link } from "@tanstack/react-router";
import { useProjectId } from "../api/hooks";
import { brief, plural } from "../model/format";
import type { IssueGroup } from "../model/types";
import { Chip } from "../ui/Chip";
import { StateChip } from "./IssueActions";

/** Title, preceded by the exception type. The text wraps and is not truncated. */
export function IssueTitle({ row, lines = 2 }: { row: IssueGroup; lines?: 1 | 2 }) {
  const pid = useProjectId();
  // Without a type, the message is the title.
  const message = row.exceptionType && row.title !== row.exceptionType ? row.message : "";
  return (
    <div className="min-w-0">
      <Link
        to="/p/$pid/issues/$hash"
        params={{ pid, hash: row.exceptionHash }}
        data-row-link
        className="row-link font-medium [overflow-wrap:anywhere]"
      >
        {brief(row.exceptionType || row.title)}
      </Link>
      {row.isMessage && (
        <span className="ml-2">
          <Chip>message</Chip>
        </span>
      )}
      {row.state !== "open" && (
        <span className="over-row ml-2">
          <StateChip issue={row} />
        </span>
      )}
      {row.mergedHashes.length > 0 && (
        <span className="ml-2">
          <Chip>{plural(row.mergedHashes.length + 1, "stack")}</Chip>
        </span>
      )}
      {message && (
        <div
          title={message}
          className={`text-ink2 [overflow-wrap:anywhere] ${lines === 1 ? "line-clamp-1" : "line-clamp-2"}`}
        >
          {message}
        </div>
      )}
    </div>
  );
}

/** The endpoint or task that the error belongs to. */
export function OwnerLink({ type, name }: { type?: string | null; name?: string | null }) {
  const pid = useProjectId();
  if (!name || (type !== "endpoint" && type !== "task")) return <span className="text-ink2">–</span>;
  return (
    <Link
      to={type === "task" ? "/p/$pid/tasks/$name" : "/p/$pid/endpoints/$name"}
      params={{ pid, name }}
      className="over-row link font-mono text-dense [overflow-wrap:anywhere]"
    >
      {brief(name)}
    </Link>
  );
}
