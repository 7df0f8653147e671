// Notifications that were sent, the latest first.
import { getRouteApi } from "@tanstack/react-router";
import { useTypesForLabels } from "../../api/config-types";
import { type NotificationRow, useNotifications } from "../../api/rules";
import { ruleTypeLabel } from "../../model/rule-types";
import { Ago } from "../../parts/Ago";
import { type Column, DataTable } from "../../parts/DataTable";
import { PAGE_SIZE, usePatchSearch } from "../../parts/listSearch";
import { PageHead } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { PathLink } from "../../parts/PathLink";
import { Empty, QueryView } from "../../parts/states";
import { Chip } from "../../ui/Chip";
import { SearchBox } from "../../ui/SearchBox";
import { Segmented } from "../../ui/Segmented";
import { AlertsTabs } from "./AlertsTabs";
import { SeverityChip, StatusChip } from "./Severity";

const route = getRouteApi("/p/$pid/alerts/history");

export function AlertHistoryPage() {
  const { q, status, page } = route.useSearch();
  const patch = usePatchSearch();
  const query = useNotifications({
    status,
    search: q || undefined,
    pagination: { page: page ?? 1, pageSize: PAGE_SIZE },
  });
  const isFiltered = q !== undefined || status !== undefined;
  return (
    <>
      <PageHead title="Alerts" sub="What people were notified of." />
      <AlertsTabs />
      <div className="mb-3 flex flex-wrap items-center gap-2 px-4">
        <SearchBox
          label="Search alerts"
          placeholder="Search alerts"
          value={q ?? ""}
          onSearch={(next) => patch({ q: next || undefined }, true)}
        />
        <Segmented
          label="Which"
          value={status ?? "all"}
          options={STATUSES}
          onChange={(next) => patch({ status: next === "all" ? undefined : next })}
        />
      </div>
      <div className="panel mx-4 mb-6 overflow-x-auto">
        <QueryView query={query}>
          {({ data, pagination }) =>
            data.length ? (
              <>
                <DataTable label="Notifications" columns={COLUMNS} rows={data} rowKey={(row) => String(row.id)} />
                <Pager pagination={pagination} noun="notifications" />
              </>
            ) : (
              <Empty title={isFiltered ? "No notifications match" : "No notifications"}>
                {isFiltered ? "The search or the filter hides everything." : "No rule has fired in the last 90 days."}
              </Empty>
            )
          }
        </QueryView>
      </div>
    </>
  );
}

const STATUSES: { value: "all" | "firing" | "resolved"; label: string }[] = [
  { value: "all", label: "All" },
  { value: "firing", label: "Fired" },
  { value: "resolved", label: "Resolved" },
];

const COLUMNS: readonly Column<NotificationRow>[] = [
  {
    key: "subject",
    head: "What",
    card: "main",
    cell: (row) => (
      <span className="block min-w-0">
        <PathLink path={row.path} data-row-link className="row-link font-medium [overflow-wrap:anywhere]">
          {row.subject}
        </PathLink>
        <span className="block text-ink2 [overflow-wrap:anywhere]">{row.body}</span>
      </span>
    ),
  },
  {
    key: "status",
    head: "Status",
    width: "110px",
    cell: (row) => <StatusChip row={row} />,
  },
  { key: "severity", head: "Severity", width: "100px", cell: (row) => <SeverityChip severity={row.severity} /> },
  {
    key: "rule",
    head: "Rule",
    width: "20%",
    card: "half",
    className: "[overflow-wrap:anywhere]",
    cell: (row) => <RuleName row={row} />,
  },
  { key: "sent", head: "Sent", width: "100px", cell: (row) => <Sent row={row} /> },
  {
    key: "time",
    head: "When",
    num: true,
    width: "110px",
    className: "text-ink2",
    cell: (row) => <Ago at={row.createdAt} />,
  },
];

function RuleName({ row }: { row: NotificationRow }) {
  return <span title={ruleTypeLabel(useTypesForLabels("rules"), row.ruleType)}>{row.ruleName}</span>;
}

function Sent({ row }: { row: NotificationRow }) {
  if (row.failed > 0)
    return (
      <Chip tone="error" tip={row.error || undefined}>
        not sent
      </Chip>
    );
  if (row.waiting > 0) return <Chip tip={row.error || undefined}>waiting</Chip>;
  return <span className="text-ink2">{row.sent > 0 ? "yes" : "to nobody"}</span>;
}
