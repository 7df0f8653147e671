// Found traces: a scatter of all of them, and a page of the list.

import type { UseQueryResult } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { OrderOf } from "../../api/routes";
import { plural } from "../../model/format";
import { absolute } from "../../model/range";
import type { Sort } from "../../model/search";
import { exactTime } from "../../model/time";
import { sampleWords } from "../../model/trace-points";
import type { TraceSearchPage } from "../../model/types";
import { DataTable } from "../../parts/DataTable";
import { usePatchSearch } from "../../parts/listSearch";
import { NoData } from "../../parts/NoData";
import { Pager } from "../../parts/Pager";
import { OPEN_ROW, RowDrawer, useOpenRow } from "../../parts/RowDrawer";
import { QueryView } from "../../parts/states";
import type { Question } from "../../parts/TableExport";
import { TraceScatter } from "./TraceScatter";
import { TracePageLink, TraceSummary } from "./TraceSummary";
import { traceColumns } from "./traceColumns";

const route = getRouteApi("/p/$pid/traces");

interface Props {
  query: UseQueryResult<TraceSearchPage>;
  question: Question;
  sort: Sort<OrderOf<"/api/traces/search">>;
  filtered: boolean;
  /** Whether the traces are plotted as points. */
  hasPoints: boolean;
  onClear: () => void;
}

export function TraceList({ query, question, sort, filtered, hasPoints, onClear }: Props) {
  const search = route.useSearch();
  const patch = usePatchSearch();
  const sel = useOpenRow();
  const isBrushed = search.min !== undefined || search.max !== undefined;
  return (
    <QueryView query={query}>
      {(page) =>
        page.data.length ? (
          <>
            <div className="border-line border-b p-3 empty:hidden">
              {hasPoints && (
                <TraceScatter
                  points={page.points}
                  onSelect={({ span, min, max }) =>
                    patch({ ...absolute(span), min: min || undefined, max: Number.isFinite(max) ? max : undefined })
                  }
                />
              )}
              {hasPoints && sampleWords(page.points) && (
                <p className="mt-1 text-caption text-ink2">{sampleWords(page.points)}</p>
              )}
              {isBrushed && (
                <button
                  type="button"
                  className="btn mt-2"
                  onClick={() => patch({ min: undefined, max: undefined, from: undefined, to: undefined })}
                >
                  Clear the selection
                </button>
              )}
            </div>
            {!page.complete && <Bounded page={page} />}
            <DataTable
              label="Traces"
              columns={traceColumns}
              rows={page.data}
              rowKey={(row) => row.traceId}
              sort={sort}
              rowClass={(row) => (row.traceId === sel ? OPEN_ROW : "")}
            />
            <RowDrawer
              rows={page.data}
              rowKey={(row) => row.traceId}
              what="trace"
              title={(row) => row.name || row.traceId}
              page={(row) => <TracePageLink row={row} />}
            >
              {(row) => <TraceSummary row={row} />}
            </RowDrawer>
            <Pager pagination={page.pagination} noun="traces" question={question} />
          </>
        ) : (
          <>
            {!page.complete && <Bounded page={page} />}
            <NoData
              what="traces"
              about="Every accepted span is stored, and a trace is found by any of its spans."
              filtered={filtered}
              onClear={onClear}
            />
          </>
        )
      }
    </QueryView>
  );
}

/** Bounds of a search that it did not look beyond. */
function Bounded({ page }: { page: TraceSearchPage }) {
  return (
    <p role="note" className="border-line border-b bg-warnsoft px-3 py-1.5">
      More spans match than one search looks at: {plural(page.pagination.total, "trace")} found.{" "}
      {page.completeAfter
        ? `Traces that started after ${exactTime(page.completeAfter).replace(/(\.\d{3})\d+$/, "$1")} are all here; earlier ones may be missing.`
        : ""}{" "}
      Narrow the time range or the query for the rest.
    </p>
  );
}
