import type { GroupOrder } from "../../api/entities";
import { score } from "../../model/format";
import type { Span } from "../../model/range";
import type { EndpointGroup } from "../../model/types";
import { APDEX_BANDS, APDEX_WORDS, apdexLevel, SERVER_ERROR_WORDS } from "../../model/words";
import type { Column } from "../../parts/DataTable";
import { EndpointChips, ImpactChip } from "../../parts/EntityChips";
import { countColumn, ErrorRate, lastColumn, NameLink, percentileColumn, trendColumn } from "./columns";

export function Apdex({ value }: { value: number | null }) {
  if (value === null || value === undefined) return <span className="text-ink2">–</span>;
  const tones = { ok: "text-ok", warn: "text-warn", error: "font-medium text-error" };
  return <span className={tones[apdexLevel(value)]}>{score(value)}</span>;
}

const allStream = (row: EndpointGroup) => row.streamCount > 0 && row.streamCount >= row.count;

export function endpointColumns(span: Span): Column<EndpointGroup, GroupOrder<"endpoint">>[] {
  return [
    {
      key: "name",
      head: "Endpoint",
      sort: "endpoint",
      ascFirst: true,
      card: "main",
      cell: (row) => (
        <NameLink kind="endpoint" name={row.endpoint} mono>
          <EndpointChips row={row} />
        </NameLink>
      ),
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
    countColumn("Calls"),
    {
      key: "errors",
      head: "Server errors",
      sort: "server_error_rate",
      num: true,
      width: "96px",
      help: SERVER_ERROR_WORDS,
      cell: (row) => <ErrorRate errors={row.serverErrorCount} all={row.count} />,
    },
    percentileColumn("p50", "84px", { isNone: allStream }),
    percentileColumn("p95", "84px", { isNone: allStream }),
    percentileColumn("p99", "92px", { isNone: allStream, onCards: false }),
    {
      key: "apdex",
      head: `Apdex (${APDEX_BANDS.ranking})`,
      num: true,
      width: "132px",
      help: APDEX_WORDS.ranking,
      cell: (row) => <Apdex value={row.apdex} />,
    },
    trendColumn(span, "Calls", "some"),
    lastColumn("84px", "some"),
  ];
}
