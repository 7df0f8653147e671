// Columns common to the rankings of endpoints, tasks and AI traces.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useProjectId } from "../../api/hooks";
import type { Counted } from "../../model/estimate";
import { durationNs, percent } from "../../model/format";
import type { Span } from "../../model/range";
import type { Point } from "../../model/types";
import { PERCENTILE_WORDS } from "../../model/words";
import { Ago } from "../../parts/Ago";
import type { Column } from "../../parts/DataTable";
import { Estimated } from "../../parts/Estimated";
import { RowLink } from "../../ui/RowLink";
import { Sparkline } from "../../viz/Sparkline";

export const ENTITY_PAGES = {
  endpoint: "/p/$pid/endpoints/$name",
  task: "/p/$pid/tasks/$name",
  aiTrace: "/p/$pid/ai/$name",
} as const;

/** The name of a group as a link to its page, followed by chips. */
export function NameLink({
  kind,
  name,
  mono,
  children,
}: {
  kind: keyof typeof ENTITY_PAGES;
  name: string;
  mono?: boolean;
  children?: ReactNode;
}) {
  const pid = useProjectId();
  return (
    <div className="name-cell">
      <RowLink
        name={name}
        mono={mono}
        link={(props) => <Link to={ENTITY_PAGES[kind]} params={{ pid, name }} {...props} />}
      />
      {children && <span className="over-row flex flex-wrap gap-1">{children}</span>}
    </div>
  );
}

export function ErrorRate({ errors, all }: { errors: number; all: number }) {
  const rate = all ? errors / all : 0;
  return (
    <span className={rate >= 0.05 ? "font-medium text-error" : rate > 0 ? "text-warn" : "text-ink2"}>
      {percent(rate)}
    </span>
  );
}

/** "Calls" or "Runs". */
export const countColumn = (head: string): Column<Counted, "count"> => ({
  key: "count",
  head,
  sort: "count",
  num: true,
  width: "72px",
  cell: (row) => <Estimated of={row} />,
});

const PERCENTILES = { p50: "Usual p50", p95: "Slow p95", p99: "Slowest p99" } as const;
type Percentile = keyof typeof PERCENTILES;

export function percentileColumn<P extends Percentile, Row extends Record<`${P}Duration`, number>>(
  percentile: P,
  width: string,
  { onCards = true, isNone }: { onCards?: boolean; isNone?: (row: Row) => boolean } = {},
): Column<Row, `${P}_duration`> {
  return {
    key: percentile,
    head: PERCENTILES[percentile],
    sort: `${percentile}_duration`,
    num: true,
    width,
    card: onCards ? undefined : "hide",
    help: PERCENTILE_WORDS[percentile],
    cell: (row) =>
      isNone?.(row) ? <span className="text-ink2">–</span> : durationNs(row[`${percentile}Duration` as const]),
  };
}

/** The room that a list's other columns take beside its names. */
type Beside = keyof typeof LEAVES;
/** Columns that leave a narrow list, so that names keep their width. Phones show the trend always. */
const LEAVES = {
  little: { trend: "sm:@max-[1040px]:hidden", last: "sm:@max-[930px]:hidden" },
  some: { trend: "sm:@max-[1130px]:hidden", last: "sm:@max-[1020px]:hidden" },
  much: { trend: "sm:@max-[1200px]:hidden", last: "sm:@max-[1090px]:hidden" },
} as const;

export const trendColumn = (span: Span, label: string, beside: Beside): Column<{ trend: Point[] }> => ({
  key: "trend",
  head: `${label} over time`,
  width: "112px",
  card: "half",
  className: `max-lg:hidden max-sm:block ${LEAVES[beside].trend}`,
  cell: (row) => <Sparkline points={row.trend} span={span} label={label} />,
});

export const lastColumn = (width: string, beside: Beside): Column<{ lastSeen: string }, "last_seen"> => ({
  key: "last",
  head: "Last seen",
  sort: "last_seen",
  num: true,
  width,
  card: "hide",
  className: `max-xl:hidden ${LEAVES[beside].last} text-ink2`,
  cell: (row) => <Ago at={row.lastSeen} />,
});
