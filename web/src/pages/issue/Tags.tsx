import { percent, plural } from "../../model/format";
import { spread } from "../../model/spread";
import type { TagDistribution } from "../../model/types";
import { Breakable } from "../../ui/Breakable";

/** Distribution of all events over servers, versions and attributes. `events` is their number. */
export function Tags({ tags, events }: { tags: TagDistribution[]; events: number }) {
  const useful = tags.filter((tag) => tag.values.length > 0);
  if (!useful.length) return null;
  return (
    <section aria-label="Spread over tags" className="panel space-y-4 p-3">
      <h2 className="font-semibold">
        Spread <span className="font-normal text-ink2">over {plural(events, "event")}</span>
      </h2>
      {useful.map((tag) => (
        <Tag key={tag.key} tag={tag} events={events} />
      ))}
    </section>
  );
}

function Tag({ tag, events }: { tag: TagDistribution; events: number }) {
  const { rows, more, without } = spread(tag, events);
  const rest = [
    more > 0 ? `and ${tag.partial ? "at least " : ""}${plural(more, "more value")}` : "",
    without > 0 ? `not set on ${percent(without / events)}` : "",
  ].filter(Boolean);
  return (
    <div>
      <h3 className="mb-1 font-mono text-dense text-ink2 [overflow-wrap:anywhere]">
        <Breakable name={tag.key} />
      </h3>
      <ul className="space-y-1">
        {rows.map((one) => (
          <li key={one.value} title={plural(one.count, "event")}>
            <div className="flex justify-between gap-3 text-dense">
              <span className="truncate">{one.value || "(empty)"}</span>
              <span className="text-ink2">{percent(one.share)}</span>
            </div>
            <div className="h-1 rounded bg-hover">
              <div className="h-1 rounded bg-accent" style={{ width: `${Math.max(1, one.share * 100)}%` }} />
            </div>
          </li>
        ))}
      </ul>
      {rest.length > 0 && <p className="mt-1 text-caption text-ink2">{rest.join(", ")}</p>}
    </div>
  );
}
