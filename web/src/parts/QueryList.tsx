// The frame of a list that is searched with the query language: heading, chart, query bar and filters, facets, panel.
import type { ReactNode } from "react";
import type { QueryRows } from "../model/types";
import { Facets } from "./Facets";
import { usePatchSearch } from "./listSearch";
import { PageHead, Toolbar } from "./Page";
import { QueryBar } from "./QueryBar";

interface Props {
  title: string;
  sub: string;
  rows: QueryRows;
  /** Noun of the search: "Search" and this noun. */
  what: string;
  placeholder: string;
  /** The query in effect. */
  query: string;
  /** The rows have been read, or could not be: the facets are read after them. */
  isRead: boolean;
  /** Error of the list's request. */
  error: unknown;
  /** Above the query bar. */
  chart?: ReactNode;
  /** Beside the query bar. */
  filters?: ReactNode;
  children: ReactNode;
}

export function QueryList({
  title,
  sub,
  rows,
  what,
  placeholder,
  query,
  isRead,
  error,
  chart,
  filters,
  children,
}: Props) {
  const patch = usePatchSearch();
  const look = (q: string) => patch({ q: q || undefined });
  return (
    <>
      <PageHead title={title} sub={sub} />
      {chart && <div className="px-4 pb-4">{chart}</div>}
      <Toolbar>
        <QueryBar
          rows={rows}
          label={`Search ${what}`}
          placeholder={placeholder}
          value={query}
          error={error}
          onSearch={look}
        />
        {filters}
      </Toolbar>
      <div className="mx-4 mb-6 flex gap-3 max-xl:flex-col">
        <Facets rows={rows} query={query} onSearch={look} isListRead={isRead} />
        <div className="panel @container min-w-0 flex-1 self-start overflow-x-auto max-xl:w-full">{children}</div>
      </div>
    </>
  );
}
