import { useState } from "react";
import { type OncallPage, useActOnPages } from "../../api/oncall";
import { Ago } from "../../parts/Ago";
import { type Column, DataTable } from "../../parts/DataTable";
import { MutationButton, Problem } from "../../parts/MutationButton";
import { Chip, type Tone } from "../../ui/Chip";
import { SearchLink } from "../../ui/SearchLink";

const STATUS: Record<OncallPage["status"], Tone> = { open: "error", acknowledged: "warn", resolved: "ok" };

export function StatusChip({ status }: { status: OncallPage["status"] }) {
  return <Chip tone={STATUS[status]}>{status}</Chip>;
}

/** Pages, with actions on the selected ones. `fixed`: without actions. */
export function PageTable({ pages, label = "Pages", fixed }: { pages: OncallPage[]; label?: string; fixed?: boolean }) {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const act = useActOnPages();
  const ids = pages.filter((page) => chosen.has(page.id) && page.status !== "resolved").map((page) => page.id);
  const toggle = (id: number) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  const run = (action: "acknowledge" | "resolve") =>
    act.mutate({ action, ids }, { onSuccess: () => setChosen(new Set()) });
  const select: Column<OncallPage> = {
    key: "select",
    head: "",
    width: "34px",
    cell: (row) =>
      row.status !== "resolved" && (
        <input
          type="checkbox"
          className="over-row"
          aria-label={`Select ${row.subject}`}
          checked={chosen.has(row.id)}
          onChange={() => toggle(row.id)}
        />
      ),
  };
  return (
    <>
      {!fixed && ids.length > 0 && (
        <div className="flex flex-wrap items-center gap-2 border-line border-b px-3 py-2">
          <span className="text-ink2">{ids.length} selected</span>
          <MutationButton of={act} onClick={() => run("acknowledge")}>
            Acknowledge
          </MutationButton>
          <MutationButton of={act} onClick={() => run("resolve")}>
            Resolve
          </MutationButton>
          <Problem of={act} />
        </div>
      )}
      <DataTable
        label={label}
        columns={fixed ? COLUMNS : [select, ...COLUMNS]}
        rows={pages}
        rowKey={(row) => String(row.id)}
      />
    </>
  );
}

const COLUMNS: readonly Column<OncallPage>[] = [
  {
    key: "subject",
    head: "Page",
    card: "main",
    cell: (row) => (
      <SearchLink
        change={{ tab: "pages", page: row.id }}
        className="row-link font-medium [overflow-wrap:anywhere]"
        data-row-link
      >
        {row.subject}
      </SearchLink>
    ),
  },
  { key: "status", head: "Status", width: "120px", cell: (row) => <StatusChip status={row.status} /> },
  {
    key: "urgency",
    head: "Urgency",
    width: "90px",
    cell: (row) => <Chip tone={row.urgency === "high" ? "error" : "plain"}>{row.urgency}</Chip>,
  },
  { key: "events", head: "Fired", num: true, width: "70px", cell: (row) => row.eventCount },
  {
    key: "by",
    head: "Acknowledged by",
    width: "18%",
    className: "text-ink2 [overflow-wrap:anywhere]",
    cell: (row) => row.acknowledgedByName ?? (row.acknowledgedAt ? "somebody who left" : "nobody"),
  },
  {
    key: "opened",
    head: "Opened",
    num: true,
    width: "110px",
    className: "text-ink2",
    cell: (row) => <Ago at={row.createdAt} />,
  },
];
