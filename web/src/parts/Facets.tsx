// The values of the rows in a list with their counts. A value is added to the query, excluded, or removed from it.
import { Minus } from "lucide-react";
import { useState } from "react";
import { usePost } from "../api/hooks";
import { useRange } from "../api/range";
import { count } from "../model/format";
import { termOf, terms, toggled } from "../model/query";
import type { FacetAnswer, QueryRows } from "../model/types";
import { useMedia } from "../ui/useMedia";

interface Props {
  rows: QueryRows;
  query: string;
  onSearch: (query: string) => void;
  /** The column scrolls on its own, in a list that fills the page. */
  fills?: boolean;
  /** The facets are read after the list, which a reader waits for. */
  isListRead: boolean;
}

/** Facets that are open at first. */
const OPEN = 5;

/** On a wide screen a column beside the list, else a section that opens. */
export function Facets(props: Props) {
  const { body } = useRange();
  const isWide = useMedia("(min-width: 1280px)");
  const question = { ...body, rows: props.rows, query: props.query };
  const answer = usePost("/api/query/facets", question, { enabled: props.isListRead });
  // The column has its place before its content, so that the list does not move.
  const isMissing = answer.isError || !isWide;
  if (answer.data ? answer.data.data.length === 0 : isMissing) return null;
  const list = answer.data && <FacetList {...props} answer={answer.data} isOld={answer.isPlaceholderData} />;
  if (isWide) {
    return (
      <aside
        aria-label="Values"
        className={`w-48 min-w-40 max-w-96 shrink-0 resize-x overflow-auto px-2 py-2 ${props.fills ? "border-line border-r" : "panel self-start"}`}
      >
        {list}
      </aside>
    );
  }
  return (
    <details className={`shrink-0 px-4 py-2 ${props.fills ? "border-line border-b" : "panel"}`}>
      <summary className="cursor-pointer font-medium text-dense">Filter by value</summary>
      <div className="max-h-72 overflow-auto pt-1">{list}</div>
    </details>
  );
}

/** The fields that are open at first: the first of those that divide the rows. A field with one value tells nothing. */
function tellMost(facets: FacetAnswer["data"]): Set<string> {
  const dividing = facets.filter((facet) => facet.values.length > 1);
  return new Set(dividing.slice(0, OPEN).map((facet) => facet.field));
}

function FacetList({
  query,
  onSearch,
  answer,
  isOld,
}: Omit<Props, "isListRead"> & { answer: FacetAnswer; isOld: boolean }) {
  // Which are open is decided once: what a reader opens and closes stays.
  const [open] = useState(() => tellMost(answer.data));
  const present = new Set(terms(query).map((term) => term.text));
  const mark = answer.estimated ? "≈ " : "";
  return (
    <div className={isOld ? "opacity-60" : ""} aria-busy={isOld || undefined}>
      {answer.data.map((facet) => (
        <details
          key={facet.field}
          open={open.has(facet.field) || terms(query).some((term) => term.text.startsWith(`${facet.field}:`))}
          className="group mb-1"
        >
          <summary className="cursor-pointer truncate py-1 font-medium text-dense" title={facet.field}>
            {facet.field}
          </summary>
          <ul>
            {facet.values.map(({ value, count: rows }) => (
              <li key={value} className="flex items-center">
                <button
                  type="button"
                  aria-pressed={present.has(termOf(facet.field, value))}
                  title={value}
                  className={`flex min-h-6 min-w-0 flex-1 items-center gap-2 rounded px-1 text-left text-dense hover:bg-hover ${
                    present.has(termOf(facet.field, value)) ? "font-medium text-accent" : ""
                  }`}
                  onClick={() => onSearch(toggled(query, facet.field, value))}
                >
                  <span className="min-w-0 flex-1 truncate">
                    <span className="sr-only">{facet.field} </span>
                    {value}
                  </span>
                  <span className="shrink-0 text-ink2 tabular-nums">
                    {mark}
                    {count(rows)}
                  </span>
                </button>
                <button
                  type="button"
                  aria-pressed={present.has(termOf(facet.field, value, true))}
                  aria-label={`Exclude ${facet.field} ${value}`}
                  title="Exclude"
                  className="grid size-6 shrink-0 place-items-center rounded text-ink2 hover:bg-hover hover:text-ink"
                  onClick={() => onSearch(toggled(query, facet.field, value, true))}
                >
                  <Minus size={12} aria-hidden />
                </button>
              </li>
            ))}
          </ul>
          {facet.more && <p className="px-1 text-caption text-ink2">and further values</p>}
        </details>
      ))}
      {answer.estimated && <p className="px-1 pt-1 text-caption text-ink2">≈ estimated from a sample of the range</p>}
    </div>
  );
}
