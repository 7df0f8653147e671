import { getRouteApi } from "@tanstack/react-router";
import { Archive, ArchiveRestore } from "lucide-react";
import { useState } from "react";
import { useArchive } from "../../api/archive";
import { usePost } from "../../api/hooks";
import type { OrderOf } from "../../api/routes";
import type { IssueGroup } from "../../api/types";
import { count, plural } from "../../model/format";
import type { Span } from "../../model/range";
import { Ago } from "../../parts/Ago";
import { type Column, DataTable } from "../../parts/DataTable";
import { Estimated, EstimatedNote } from "../../parts/Estimated";
import { Facets } from "../../parts/Facets";
import { IssueTitle, OwnerLink } from "../../parts/IssueCells";
import { useListBody, usePatchSearch } from "../../parts/listSearch";
import { NoData } from "../../parts/NoData";
import { PageHead, Toolbar } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { QueryBar } from "../../parts/QueryBar";
import { useRange } from "../../parts/range";
import { QueryView } from "../../parts/states";
import { Segmented } from "../../ui/Segmented";
import { Sparkline } from "../../viz/Sparkline";

const route = getRouteApi("/p/$pid/issues");

export function IssuesPage() {
  const search = route.useSearch();
  const patch = usePatchSearch();
  const { span } = useRange();
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const archive = useArchive();
  const pick = (hash: string, on: boolean) => {
    const next = new Set(picked);
    on ? next.add(hash) : next.delete(hash);
    setPicked(next);
  };
  const shown = columns(span, picked, pick, (id) => archive.mutate({ hashes: [id], archive: true }));
  const { sort, body } = useListBody(search, shown, { by: "last_seen", desc: true });
  const query = search.q ?? "";
  const look = (q: string) => patch({ q: q || undefined });
  const question = {
    route: "/api/exception-stack-traces" as const,
    body: {
      ...body,
      search: "",
      query,
      searchType: search.type ?? ("all" as const),
      includeArchived: !!search.archived,
    },
  };
  const list = usePost(question.route, question.body);
  const apply = (on: boolean) => {
    archive.mutate({ hashes: [...picked], archive: on });
    setPicked(new Set());
  };
  const visible = (rows: IssueGroup[]) => rows.filter((row) => search.archived || !row.archived);
  return (
    <>
      <PageHead
        title="Issues"
        sub="Exceptions, grouped by their normalised stack trace, and messages that SDKs captured."
      />
      <Toolbar>
        <QueryBar
          rows="issue"
          label="Search issues"
          placeholder="Words of type, message or stack, or service:checkout user.id:7"
          value={query}
          error={list.error}
          onSearch={look}
        />
        <Segmented
          label="Type of issues"
          value={search.type ?? "all"}
          options={[
            { value: "all", label: "All" },
            { value: "issues", label: "Exceptions" },
            { value: "messages", label: "Messages" },
          ]}
          onChange={(value) => patch({ type: value === "all" ? undefined : value })}
        />
        <Segmented
          label="Which issues"
          value={search.archived ? "all" : "open"}
          options={[
            { value: "open", label: "Open" },
            { value: "all", label: "With archived" },
          ]}
          onChange={(value) => patch({ archived: value === "all" || undefined })}
        />
        {picked.size > 0 && (
          <div role="toolbar" aria-label="Selected issues" className="flex items-center gap-2">
            <span className="text-ink2">{plural(picked.size, "issue")} selected</span>
            <button type="button" className="btn" onClick={() => apply(true)}>
              <Archive size={14} aria-hidden /> Archive
            </button>
            {search.archived && (
              <button type="button" className="btn" onClick={() => apply(false)}>
                <ArchiveRestore size={14} aria-hidden /> Bring back
              </button>
            )}
            <button type="button" className="btn btn-ghost" onClick={() => setPicked(new Set())}>
              Clear
            </button>
          </div>
        )}
      </Toolbar>
      <div className="mx-4 mb-6 flex gap-3 max-xl:flex-col">
        <Facets rows="issue" query={query} onSearch={look} />
        <div className="panel min-w-0 flex-1 self-start overflow-x-auto max-xl:w-full">
          <QueryView query={list}>
            {(page) => {
              const rows = visible(page.data ?? []);
              if (!rows.length)
                return (
                  <NoData
                    what="issues"
                    about="Exceptions on spans become issues. An error status without an exception does not."
                    filtered={!!search.q || !!search.type}
                    onClear={() => patch({ q: undefined, type: undefined })}
                  />
                );
              return (
                <>
                  <DataTable
                    label={`Issues, ${count(page.pagination.total)}`}
                    columns={shown}
                    rows={rows}
                    rowKey={(row) => row.exceptionHash}
                    sort={sort}
                    rowClass={(row) => (row.archived ? "opacity-70" : "")}
                  />
                  <EstimatedNote of={rows} className="border-line border-t px-3 py-2" />
                  <Pager pagination={page.pagination} noun="issues" question={question} />
                </>
              );
            }}
          </QueryView>
        </div>
      </div>
    </>
  );
}

function columns(
  span: Span,
  picked: ReadonlySet<string>,
  pick: (hash: string, on: boolean) => void,
  archive: (hash: string) => void,
): Column<IssueGroup, OrderOf<"/api/exception-stack-traces">>[] {
  return [
    {
      key: "select",
      head: "",
      width: "36px",
      card: "hide",
      cell: (row) => (
        <input
          type="checkbox"
          className="over-row block size-4 accent-(--accent)"
          aria-label={`Select ${row.title}`}
          checked={picked.has(row.exceptionHash)}
          onChange={(event) => pick(row.exceptionHash, event.target.checked)}
        />
      ),
    },
    { key: "title", head: "Issue", card: "main", cell: (row) => <IssueTitle row={row} /> },
    {
      key: "owner",
      head: "Where",
      width: "220px",
      card: "half",
      help: "The endpoint or task in which it happened.",
      cell: (row) => <OwnerLink type={row.ownerType} name={row.ownerName} />,
    },
    {
      key: "trend",
      head: "Events over time",
      width: "116px",
      card: "half",
      className: "max-xl:hidden max-sm:block",
      cell: (row) => <Sparkline points={row.hourlyTrend} span={span} tone="error" label="Events" />,
    },
    { key: "count", head: "Events", sort: "count", num: true, width: "76px", cell: (row) => <Estimated of={row} /> },
    {
      key: "last",
      head: "Last seen",
      sort: "last_seen",
      num: true,
      width: "92px",
      cell: (row) => <Ago at={row.lastSeen} />,
    },
    {
      key: "first",
      head: "First seen",
      sort: "first_seen",
      num: true,
      width: "92px",
      className: "text-ink2",
      cell: (row) => <Ago at={row.firstSeen} />,
    },
    {
      key: "archive",
      head: "",
      width: "40px",
      card: "hide",
      cell: (row) =>
        row.archived ? null : (
          <button
            type="button"
            className="btn btn-ghost btn-icon over-row"
            aria-label={`Archive ${row.title}`}
            title="Archive: hidden until it happens again"
            onClick={() => archive(row.exceptionHash)}
          >
            <Archive size={14} aria-hidden className="text-ink2" />
          </button>
        ),
    },
  ];
}
