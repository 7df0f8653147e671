// Columns of single model calls and tool runs. A row opens the conversation.
import { Link } from "@tanstack/react-router";
import type { RowOrder } from "../../api/entities";
import { useProjectId } from "../../api/hooks";
import { count, durationNs, NONE, plural } from "../../model/format";
import { exactTime } from "../../model/time";
import type { AiRow } from "../../model/types";
import { Chip } from "../../ui/Chip";
import type { Column } from "../DataTable";
import { NonRootChip } from "../EntityChips";
import { FlagChips, TermChips } from "./Chips";
import { Cost } from "./Cost";

/** Values of `gen_ai.operation.name` that are not model calls. */
export const isTool = (row: AiRow) => row.operation === "execute_tool";

function When({ row }: { row: AiRow }) {
  const pid = useProjectId();
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      <Link
        to="/p/$pid/ai/t/$rowId"
        params={{ pid, rowId: row.id }}
        search={{ at: row.recordedAt }}
        data-row-link
        className="row-link font-medium"
      >
        {exactTime(row.recordedAt).replace(/(\.\d{3})\d+$/, "$1")}
      </Link>
      <span className="over-row flex gap-1">
        {!row.isRoot && <NonRootChip />}
        {row.isError && <Chip tone="error">failed</Chip>}
        {!row.isCounted && !isTool(row) && (
          <Chip tip="Tokens and cost repeat those of calls below it and are in no sum.">not counted again</Chip>
        )}
        {isTool(row) ? (
          <Chip>tool run</Chip>
        ) : (
          row.toolCallCount > 0 && (
            <Chip tip={row.toolNames?.join(", ")}>asked for {plural(row.toolCallCount, "tool call")}</Chip>
          )
        )}
      </span>
    </span>
  );
}

export const CALL_COLUMNS: Column<AiRow, RowOrder<"aiTrace">>[] = [
  { key: "time", head: "Time", sort: "recorded_at", card: "main", cell: (row) => <When row={row} /> },
  {
    key: "model",
    head: "Model",
    mono: true,
    card: "half",
    cell: (row) => row.model || row.responseModel || NONE,
  },
  {
    key: "cost",
    head: "Cost",
    sort: "total_cost",
    num: true,
    width: "96px",
    cell: (row) => <Cost value={row.totalCost} estimated={row.costEstimated} />,
  },
  { key: "in", head: "In", num: true, width: "76px", help: "Input tokens", cell: (row) => count(row.inputTokens) },
  { key: "out", head: "Out", num: true, width: "76px", help: "Output tokens", cell: (row) => count(row.outputTokens) },
  {
    key: "cached",
    head: "Cached",
    num: true,
    width: "76px",
    card: "hide",
    help: "Input tokens read from the provider's cache",
    cell: (row) => count(row.cachedTokens),
  },
  {
    key: "duration",
    head: "Duration",
    sort: "duration",
    num: true,
    width: "96px",
    cell: (row) => durationNs(row.duration),
  },
  {
    key: "finish",
    head: "Ended",
    className: "text-ink2",
    card: "hide",
    cell: (row) =>
      row.flags.length ? (
        <span className="over-row flex flex-wrap gap-1">
          <FlagChips flags={row.flags} />
          <TermChips terms={row.flaggedTerms} />
        </span>
      ) : (
        row.finishReason || NONE
      ),
  },
  { key: "user", head: "User", className: "text-ink2 max-lg:hidden", card: "hide", cell: (row) => row.userId || NONE },
];
