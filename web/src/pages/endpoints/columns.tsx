import { Link } from "@tanstack/react-router";
import { useProjectId } from "../../api/hooks";
import type { EndpointGroup } from "../../api/types";
import { count, durationNs, percent, score } from "../../model/format";
import type { Span } from "../../model/range";
import { APDEX_BANDS, APDEX_WORDS, apdexLevel, PERCENTILE_WORDS, SERVER_ERROR_WORDS } from "../../model/words";
import { Ago } from "../../parts/Ago";
import type { Column } from "../../parts/DataTable";
import { EndpointChips, ImpactChip } from "../../parts/EntityChips";
import { Sparkline } from "../../viz/Sparkline";

export function EndpointLink({ row }: { row: EndpointGroup }) {
  const pid = useProjectId();
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5">
      <Link
        to="/p/$pid/endpoints/$name"
        params={{ pid, name: row.endpoint }}
        data-row-link
        className="row-link font-medium font-mono text-dense [overflow-wrap:anywhere]"
      >
        {row.endpoint}
      </Link>
      <span className="over-row flex flex-wrap gap-1">
        <EndpointChips row={row} />
      </span>
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

export function Apdex({ value }: { value: number | null }) {
  if (value === null || value === undefined) return <span className="text-ink2">–</span>;
  const tones = { ok: "text-ok", warn: "text-warn", error: "font-medium text-error" };
  return <span className={tones[apdexLevel(value)]}>{score(value)}</span>;
}

const allStream = (row: EndpointGroup) => row.streamCount > 0 && row.streamCount >= row.count;

export function endpointColumns(span: Span): Column<EndpointGroup>[] {
  const latency = (value: (row: EndpointGroup) => number) => (row: EndpointGroup) =>
    allStream(row) ? <span className="text-ink2">–</span> : durationNs(value(row));
  return [
    {
      key: "name",
      head: "Endpoint",
      sort: "endpoint",
      ascFirst: true,
      card: "main",
      cell: (row) => <EndpointLink row={row} />,
    },
    {
      key: "impact",
      head: "Impact",
      sort: "impact",
      help: "How much this endpoint hurts users: slow and failed calls, weighed by how often it is called.",
      width: "92px",
      cell: (row) => (
        <span className="over-row">
          <ImpactChip level={row.impactLevel} reason={row.impactReason} value={row.impact} />
        </span>
      ),
    },
    { key: "count", head: "Calls", sort: "count", num: true, width: "72px", cell: (row) => count(row.count) },
    {
      key: "errors",
      head: "Server errors",
      sort: "server_error_rate",
      num: true,
      width: "96px",
      help: SERVER_ERROR_WORDS,
      cell: (row) => <ErrorRate errors={row.serverErrorCount} all={row.count} />,
    },
    {
      key: "p50",
      head: "Usual p50",
      sort: "p50_duration",
      num: true,
      width: "84px",
      help: PERCENTILE_WORDS.p50,
      cell: latency((row) => row.p50Duration),
    },
    {
      key: "p95",
      head: "Slow p95",
      sort: "p95_duration",
      num: true,
      width: "84px",
      help: PERCENTILE_WORDS.p95,
      cell: latency((row) => row.p95Duration),
    },
    {
      key: "p99",
      head: "Slowest p99",
      sort: "p99_duration",
      num: true,
      width: "92px",
      card: "hide",
      help: PERCENTILE_WORDS.p99,
      cell: latency((row) => row.p99Duration),
    },
    {
      key: "apdex",
      head: `Apdex (${APDEX_BANDS.ranking})`,
      num: true,
      width: "132px",
      help: APDEX_WORDS.ranking,
      cell: (row) => <Apdex value={row.apdex} />,
    },
    {
      key: "trend",
      head: "Calls over time",
      width: "112px",
      card: "half",
      className: "max-lg:hidden max-sm:block",
      cell: (row) => <Sparkline points={row.trend} span={span} label="Calls" />,
    },
    {
      key: "last",
      head: "Last seen",
      sort: "last_seen",
      num: true,
      width: "84px",
      card: "hide",
      className: "max-xl:hidden text-ink2",
      cell: (row) => <Ago at={row.lastSeen} />,
    },
  ];
}
