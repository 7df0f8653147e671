// Issues of the same type with similar frames or messages.
import { Link } from "@tanstack/react-router";
import { Merge } from "lucide-react";
import { useMayWrite } from "../../api/account";
import { useGet, useProjectId } from "../../api/hooks";
import { useMerge } from "../../api/issues";
import { percent } from "../../model/format";
import { Ago } from "../../parts/Ago";

export function Similar({ hash }: { hash: string }) {
  const pid = useProjectId();
  const merge = useMerge();
  const mayMerge = useMayWrite();
  const similar =
    useGet("/api/exception-stack-traces/{hash}/similar", { path: { hash }, keep: false }).data?.data ?? [];
  if (!similar.length) return null;
  return (
    <section aria-label="Similar issues" className="panel p-3">
      <h2 className="mb-1 font-semibold">Similar issues</h2>
      <ul className="divide-y divide-line">
        {similar.map((one) => (
          <li key={one.exceptionHash} className="flex items-start justify-between gap-2 py-2">
            <div className="min-w-0">
              <Link
                to="/p/$pid/issues/$hash"
                params={{ pid, hash: one.exceptionHash }}
                className="link line-clamp-2 [overflow-wrap:anywhere]"
              >
                {one.title}
              </Link>
              <div className="text-caption text-ink2">
                {percent(one.similarity)} alike, <Ago at={one.lastSeen} />
              </div>
            </div>
            {mayMerge && (
              <button
                type="button"
                className="btn btn-ghost btn-icon"
                aria-label={`Merge ${one.title} into this issue`}
                title="Merge into this issue"
                onClick={() => merge.mutate({ hashes: [one.exceptionHash], into: hash })}
              >
                <Merge size={14} aria-hidden />
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
