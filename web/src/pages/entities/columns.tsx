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
import { MiddleCut, WholeOnHover, wholeName } from "../../ui/MiddleCut";
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
  text = name,
  children,
}: {
  kind: keyof typeof ENTITY_PAGES;
  name: string;
  mono?: boolean;
  /** Displayed name. */
  text?: string;
  children?: ReactNode;
}) {
  const pid = useProjectId();
  return (
    <div className="name-cell">
      <WholeOnHover name={text}>
        <Link
          to={ENTITY_PAGES[kind]}
          params={{ pid, name }}
          data-row-link
          aria-label={wholeName(text)}
          className={`row-link min-w-0 max-w-full font-medium ${mono ? "font-mono text-dense" : ""}`}
        >
          <MiddleCut name={text} />
        </Link>
      </WholeOnHover>
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

/** Columns that leave a narrow list, so that names keep their width: `few` or `many` other columns. */
const LEAVES = {
  trend: { few: "sm:@max-[1040px]:hidden", many: "sm:@max-[1200px]:hidden" },
  last: { few: "sm:@max-[930px]:hidden", many: "sm:@max-[1090px]:hidden" },
} as const;

/** Phones show it always. */
export const trendColumn = (span: Span, label: string, beside: "few" | "many"): Column<{ trend: Point[] }> => ({
  key: "trend",
  head: `${label} over time`,
  width: "112px",
  card: "half",
  className: LEAVES.trend[beside],
  cell: (row) => <Sparkline points={row.trend} span={span} label={label} />,
});

export const lastColumn = (width: string, beside: "few" | "many"): Column<{ lastSeen: string }, "last_seen"> => ({
  key: "last",
  head: "Last seen",
  sort: "last_seen",
  num: true,
  width,
  card: "hide",
  className: `${LEAVES.last[beside]} text-ink2`,
  cell: (row) => <Ago at={row.lastSeen} />,
});
