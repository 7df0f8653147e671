import { getRouteApi } from "@tanstack/react-router";
import { Archive, Merge, UserRound } from "lucide-react";
import { useState } from "react";
import { useMayWrite } from "../../api/account";
import { usePost } from "../../api/hooks";
import { useAssignees, useMerge, useSetState } from "../../api/issues";
import { useRange } from "../../api/range";
import type { OrderOf } from "../../api/routes";
import { count, NONE, plural } from "../../model/format";
import { isInView, STATE_OPTIONS, type StateView, stateBody } from "../../model/issue-state";
import type { Span } from "../../model/range";
import type { IssueGroup } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { type Column, DataTable } from "../../parts/DataTable";
import { Estimated, EstimatedNote } from "../../parts/Estimated";
import { AssignSelect, StateActions } from "../../parts/IssueActions";
import { IssueTitle, OwnerLink } from "../../parts/IssueCells";
import { useListBody, usePatchSearch } from "../../parts/listSearch";
import { NoData } from "../../parts/NoData";
import { Pager } from "../../parts/Pager";
import { QueryList } from "../../parts/QueryList";
import { OPEN_ROW, RowDrawer, useOpenRow } from "../../parts/RowDrawer";
import { QueryView } from "../../parts/states";
import { useKeys } from "../../ui/keys";
import { Segmented } from "../../ui/Segmented";
import { Select } from "../../ui/Select";
import { Sparkline } from "../../viz/Sparkline";
import { IssuePageLink, IssueSummary } from "./IssueSummary";

const route = getRouteApi("/p/$pid/issues");

export function IssuesPage() {
  const search = route.useSearch();
  const patch = usePatchSearch();
  const { span } = useRange();
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const change = useSetState();
  const merge = useMerge();
  const people = useAssignees();
  const sel = useOpenRow();
  const state = search.state ?? "open";
  const pick = (hash: string, on: boolean) => {
    const next = new Set(picked);
    on ? next.add(hash) : next.delete(hash);
    setPicked(next);
  };
  const mayChange = useMayWrite();
  const all = columns(span, picked, pick, (id) => change.mutate({ hashes: [id], state: "archived" }));
  const shown = mayChange ? all : all.filter((column) => column.key !== "select" && column.key !== "archive");
  const { sort, body } = useListBody(search, shown, { by: "last_seen", desc: true });
  const query = search.q ?? "";
  const question = {
    route: "/api/exception-stack-traces" as const,
    body: {
      ...body,
      search: "",
      query,
      searchType: search.type ?? ("all" as const),
      ...stateBody(state),
      assigneeId: search.by ?? null,
    },
  };
  const list = usePost(question.route, question.body);
  const visible = (rows: IssueGroup[]) => rows.filter((row) => isInView(state, row.state));
  const selected = (list.data?.data ?? []).filter((row) => picked.has(row.exceptionHash));
  const clear = () => setPicked(new Set());
  // The issue with the focus, or the selected ones.
  const focused = () => (document.activeElement as HTMLElement | null)?.closest("tr")?.getAttribute("data-key");
  const apply = (state: "resolved" | "archived") => {
    const one = focused();
    const hashes = picked.size ? [...picked] : one ? [one] : [];
    if (!hashes.length || !mayChange) return;
    change.mutate({ hashes, state });
    clear();
  };
  useKeys({ e: () => apply("archived"), x: () => toggleFocused(), v: () => apply("resolved") });
  function toggleFocused() {
    const one = focused();
    if (one) pick(one, !picked.has(one));
  }
  return (
    <QueryList
      title="Issues"
      sub="Exceptions, grouped by their types and the frames of the application, and messages that SDKs captured."
      rows="issue"
      what="issues"
      placeholder="Words of type, message or stack, or service:checkout user.id:7"
      query={query}
      isRead={!list.isPending}
      error={list.error}
      filters={
        <>
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
          <Select
            label="State of issues"
            value={state}
            options={STATE_OPTIONS}
            onChange={(value) => patch({ state: value === "open" ? undefined : (value as StateView) })}
          />
          <Select
            label="Assignee of issues"
            value={search.by === undefined ? "" : String(search.by)}
            options={[
              { value: "", label: "Anybody" },
              { value: "0", label: "Not assigned" },
              ...people.map((one) => ({ value: String(one.id), label: one.name })),
            ]}
            onChange={(value) => patch({ by: value === "" ? undefined : Number(value) })}
          />
          {picked.size > 0 && (
            <div role="toolbar" aria-label="Selected issues" className="flex flex-wrap items-center gap-2">
              <span className="text-ink2">{plural(picked.size, "issue")} selected</span>
              <StateActions hashes={[...picked]} states={selected.map((row) => row.state)} onDone={clear} />
              <AssignSelect hashes={[...picked]} value="" onDone={clear} />
              {picked.size > 1 && (
                <button
                  type="button"
                  className="btn"
                  title="One issue with the events of all; the oldest selected one stays"
                  onClick={() => {
                    merge.mutate({ hashes: [...picked], into: oldest(selected) ?? [...picked][0] });
                    clear();
                  }}
                >
                  <Merge size={14} aria-hidden /> Merge
                </button>
              )}
              <button type="button" className="btn btn-ghost" onClick={clear}>
                Clear
              </button>
            </div>
          )}
        </>
      }
    >
      <QueryView query={list}>
        {(page) => {
          const rows = visible(page.data ?? []);
          if (!rows.length)
            return (
              <NoData
                what="issues"
                about="Exceptions on spans become issues. An error status without an exception does not."
                filtered={!!search.q || !!search.type || !!search.state || search.by !== undefined}
                onClear={() => patch({ q: undefined, type: undefined, state: undefined, by: undefined })}
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
                rowClass={(row) =>
                  row.exceptionHash === sel ? OPEN_ROW : isInView("open", row.state) ? "" : "opacity-70"
                }
              />
              <RowDrawer
                rows={rows}
                rowKey={(row) => row.exceptionHash}
                what="issue"
                title={(row) => row.title}
                page={(row) => <IssuePageLink row={row} />}
              >
                {(row) => <IssueSummary row={row} />}
              </RowDrawer>
              <EstimatedNote of={rows} className="border-line border-t px-3 py-2" />
              <Pager pagination={page.pagination} noun="issues" question={question} />
            </>
          );
        }}
      </QueryView>
    </QueryList>
  );
}

/** The hash of the issue that occurred first. */
function oldest(rows: IssueGroup[]): string | undefined {
  const byTime = [...rows].sort((one, other) => Date.parse(one.firstOccurrence) - Date.parse(other.firstOccurrence));
  return byTime[0]?.exceptionHash;
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
      width: "160px",
      card: "half",
      help: "The endpoint or task in which it happened.",
      cell: (row) => <OwnerLink type={row.ownerType} name={row.ownerName} />,
    },
    {
      key: "trend",
      head: "Events over time",
      width: "116px",
      card: "half",
      className: "max-xl:hidden max-sm:block sm:@max-[980px]:hidden",
      cell: (row) => <Sparkline points={row.hourlyTrend} span={span} tone="error" label="Events" />,
    },
    { key: "count", head: "Events", sort: "count", num: true, width: "76px", cell: (row) => <Estimated of={row} /> },
    {
      key: "users",
      head: "Users",
      sort: "users",
      num: true,
      width: "70px",
      help: "Distinct user.id, else enduser.id, else client.address.",
      cell: (row) => (row.users === null ? "> 1M" : row.users ? count(row.users) : NONE),
    },
    {
      key: "assignee",
      head: "",
      width: "40px",
      card: "hide",
      className: "max-xl:hidden",
      cell: (row) =>
        row.assignee && (
          <span title={`Assigned to ${row.assignee.name || row.assignee.email}`}>
            <UserRound size={14} aria-hidden className="text-ink2" />
            <span className="sr-only">Assigned to {row.assignee.name || row.assignee.email}</span>
          </span>
        ),
    },
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
      head: "New",
      sort: "newness",
      num: true,
      width: "92px",
      className: "text-ink2",
      help: "The first event, also before the time range.",
      cell: (row) => <Ago at={row.firstOccurrence} />,
    },
    {
      key: "archive",
      head: "",
      width: "40px",
      card: "hide",
      cell: (row) =>
        !isInView("open", row.state) ? null : (
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
