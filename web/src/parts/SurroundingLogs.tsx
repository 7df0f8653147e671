// The log records before and after one, of the same service and instance.
import { useState } from "react";
import { usePost } from "../api/hooks";
import { clockMs, exactTime, parseMs } from "../model/time";
import type { LogRow } from "../model/types";
import { Switch } from "../ui/Switch";
import { SeverityMark } from "./SeverityMark";
import { QueryView, SkeletonRows } from "./states";

const STEP = 10;
const MOST = 100;

export function SurroundingLogs({ row }: { row: LogRow }) {
  const [many, setMany] = useState(STEP);
  const [sameInstance, setSameInstance] = useState(true);
  const query = usePost("/api/logs/around", {
    id: row.id,
    timestamp: row.timestamp,
    serviceName: row.serviceName,
    sameInstance,
    count: many,
  });
  const more = () => setMany(Math.min(MOST, many + 2 * STEP));
  return (
    <section className="min-w-0 lg:col-span-2" aria-label="Surrounding lines">
      <QueryView query={query} skeleton={<SkeletonRows rows={5} />}>
        {(data) => (
          <>
            <div className="mb-1 flex flex-wrap items-center gap-x-4">
              <h3 className="font-semibold">Surrounding lines of {row.serviceName || "this service"}</h3>
              {(data.instance !== null || !sameInstance) && (
                <Switch label="Same instance only" checked={sameInstance} onChange={setSameInstance} />
              )}
            </div>
            <div className="max-h-96 overflow-auto rounded-control border border-line bg-bg" tabIndex={0}>
              <Further shown={data.moreBefore} all={many >= MOST} what="Earlier lines" onMore={more} />
              <ol aria-label="Lines, oldest first">
                {data.before.map((one) => (
                  <Line key={one.id} row={one} />
                ))}
                <Line row={data.record} isCurrent />
                {data.after.map((one) => (
                  <Line key={one.id} row={one} />
                ))}
              </ol>
              <Further shown={data.moreAfter} all={many >= MOST} what="Later lines" onMore={more} />
            </div>
          </>
        )}
      </QueryView>
    </section>
  );
}

function Further({ shown, all, what, onMore }: { shown: boolean; all: boolean; what: string; onMore: () => void }) {
  if (!shown) return null;
  if (all)
    return <p className="px-2 py-1 text-caption text-ink2">There are further lines; at most {MOST} are shown.</p>;
  return (
    <button type="button" className="btn btn-ghost w-full justify-center" onClick={onMore}>
      {what}
    </button>
  );
}

function Line({ row, isCurrent }: { row: LogRow; isCurrent?: boolean }) {
  return (
    <li
      aria-current={isCurrent || undefined}
      className={`flex items-start gap-x-2 px-2 py-0.5 max-sm:flex-wrap ${isCurrent ? "bg-accentsoft font-medium" : ""}`}
    >
      <time
        dateTime={row.timestamp}
        title={exactTime(row.timestamp)}
        className="shrink-0 font-mono text-dense text-ink2"
      >
        {clockMs(parseMs(row.timestamp))}
      </time>
      <span className="flex w-18 shrink-0">
        <SeverityMark text={row.severityText} number={row.severityNumber} />
      </span>
      <span className="min-w-0 flex-1 font-mono text-dense [overflow-wrap:anywhere] max-sm:basis-full">
        {row.body.slice(0, 600) || row.eventName || "(empty)"}
      </span>
    </li>
  );
}
