import type { TagDistribution } from "../../api/types";
import { count, percent } from "../../model/format";

/** How the events spread over servers, versions and attributes. */
export function Tags({ tags }: { tags: TagDistribution[] | null }) {
  const useful = (tags ?? []).filter((tag) => tag.values.length > 0);
  if (!useful.length) return null;
  return (
    <section aria-label="Spread over tags" className="panel space-y-4 p-3">
      <h2 className="font-semibold">Spread</h2>
      {useful.map((tag) => {
        const total = tag.values.reduce((sum, one) => sum + one.count, 0);
        return (
          <div key={tag.key}>
            <h3 className="mb-1 font-mono text-dense text-ink2">{tag.key}</h3>
            <ul className="space-y-1">
              {tag.values.slice(0, 5).map((one) => (
                <li key={one.value} title={`${count(one.count)} events`}>
                  <div className="flex justify-between gap-3 text-dense">
                    <span className="truncate">{one.value || "(empty)"}</span>
                    <span className="text-ink2">{percent(one.count / total)}</span>
                  </div>
                  <div className="h-1 rounded bg-hover">
                    <div
                      className="h-1 rounded bg-accent"
                      style={{ width: `${Math.max(2, (one.count / total) * 100)}%` }}
                    />
                  </div>
                </li>
              ))}
            </ul>
            {tag.values.length > 5 && (
              <p className="mt-1 text-caption text-ink2">and {tag.values.length - 5} more values</p>
            )}
          </div>
        );
      })}
    </section>
  );
}
