import { Link } from "@tanstack/react-router";
import { useProjectId } from "../api/hooks";
import { brief, plural } from "../model/format";
import type { IssueGroup } from "../model/types";
import { Chip } from "../ui/Chip";
import { RowLink } from "../ui/RowLink";
import { StateChip } from "./IssueActions";

/** The exception type in one line, and the message in another. */
export function IssueTitle({ row }: { row: IssueGroup }) {
  const pid = useProjectId();
  // Without a type, the message is the title.
  const name = row.exceptionType || row.title;
  const message = row.exceptionType && row.title !== row.exceptionType ? row.message : "";
  return (
    <div className="identifies">
      <div className="flex items-center gap-x-2 max-sm:flex-wrap">
        <RowLink
          name={name}
          link={(props) => <Link to="/p/$pid/issues/$hash" params={{ pid, hash: row.exceptionHash }} {...props} />}
        />
        {row.isMessage && <Chip>message</Chip>}
        {row.state !== "open" && (
          <span className="over-row shrink-0">
            <StateChip issue={row} />
          </span>
        )}
        {row.mergedHashes.length > 0 && <Chip>{plural(row.mergedHashes.length + 1, "stack")}</Chip>}
      </div>
      {message && (
        <div title={message} className="line-clamp-1 text-ink2 [overflow-wrap:anywhere] max-sm:line-clamp-2">
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
      title={name}
      className="over-row link block font-mono text-dense [overflow-wrap:anywhere] sm:[.dt_&]:truncate sm:[.dt_&]:[contain:inline-size]"
    >
      {brief(name)}
    </Link>
  );
}
