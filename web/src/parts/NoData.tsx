// The empty state of a list: no row matches the filters or the range, or nothing was ever received.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useGlobalFilter } from "../api/global-filter";
import { useGet, useProjectId } from "../api/hooks";
import { useRange } from "../api/range";
import { labelRange } from "../model/range";
import { usePatchSearch } from "./listSearch";
import { Empty } from "./states";

interface Props {
  /** Plural noun of the rows, such as "endpoints". */
  what: string;
  /** One sentence that explains what is listed. */
  about: ReactNode;
  filtered?: boolean;
  onClear?: () => void;
}

export function NoData({ what, about, filtered, onClear }: Props) {
  const pid = useProjectId();
  const { range, body, setRange } = useRange();
  const { services, environments } = useGlobalFilter();
  const patch = usePatchSearch();
  const overview = useGet("/api/dashboard/overview", { query: { from: body.fromDate, to: body.toDate } });
  const clear = () => {
    onClear?.();
    if (services.length || environments.length) patch({ service: undefined, env: undefined });
  };
  if (filtered || services.length || environments.length)
    return (
      <Empty
        title={`No ${what} match`}
        action={
          <button type="button" className="btn" onClick={clear}>
            Clear search and filters
          </button>
        }
      >
        The search, a filter, or the services and environments of the top bar hide everything in this time range.
      </Empty>
    );
  const counts = overview.data?.counts;
  const arrived =
    counts &&
    [
      [counts.spans, "spans"],
      [counts.logs, "logs"],
      [counts.metricPoints, "metric points"],
    ].filter(([amount]) => Number(amount) > 0);
  return (
    <Empty
      title={`No ${what} in this time range`}
      action={
        <>
          {range.from !== "now-7d" && (
            <button type="button" className="btn" onClick={() => setRange({ from: "now-7d", to: "now" })}>
              Look at the last 7 days
            </button>
          )}
          <Link to="/p/$pid/connect" params={{ pid }} className="btn btn-primary">
            {overview.data?.hasData ? "Check the connection" : "Connect an application"}
          </Link>
        </>
      }
    >
      {about} {labelRange(range)}:{" "}
      {arrived?.length
        ? `arrived ${arrived.map(([amount, label]) => `${amount} ${label}`).join(", ")}, but none of this kind.`
        : "nothing has arrived."}
    </Empty>
  );
}
