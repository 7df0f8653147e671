// The incidents of the organization, and their post-mortems.
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { useMayWrite } from "../../api/account";
import { useProjectId } from "../../api/hooks";
import { useIncidents, useOpenIncident, usePostMortems } from "../../api/incidents";
import { NONE } from "../../model/format";
import type { Incident, PostMortemRow } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { type Column, DataTable } from "../../parts/DataTable";
import { Problem, Submit } from "../../parts/MutationButton";
import { PageHead } from "../../parts/Page";
import { Empty, QueryView } from "../../parts/states";
import { Chip } from "../../ui/Chip";
import { Dialog } from "../../ui/Dialog";
import { Field } from "../../ui/Field";
import { SearchLink } from "../../ui/SearchLink";
import { SelectField } from "../../ui/SelectField";
import { TAB, TabRow } from "../../ui/Tabs";
import { TextArea } from "../../ui/TextArea";
import { SEVERITIES, SeverityChip, StatusChip } from "./marks";
import { PageChoice } from "./PageChoice";

const route = getRouteApi("/p/$pid/incidents");

const TABS = [
  { show: undefined, label: "Open" },
  { show: "resolved", label: "Resolved" },
  { show: "all", label: "All" },
  { show: "post-mortems", label: "Post-mortems" },
] as const;

export function IncidentsPage() {
  const { show, before } = route.useSearch();
  const [isOpening, setOpening] = useState(false);
  const mayWrite = useMayWrite();
  const open = mayWrite && (
    <button type="button" className="btn btn-primary" onClick={() => setOpening(true)}>
      <Plus size={14} aria-hidden /> Open an incident
    </button>
  );
  return (
    <>
      <PageHead
        title="Incidents"
        sub="Alerts that fire together, and what people open. An incident of alerts is resolved some minutes after they end."
        actions={open}
      />
      <div className="px-4 pb-3">
        <TabRow label="Incidents">
          {TABS.map((tab) => (
            <SearchLink
              key={tab.label}
              change={{ show: tab.show, before: undefined }}
              className={TAB}
              current={show === tab.show}
            >
              {tab.label}
            </SearchLink>
          ))}
        </TabRow>
      </div>
      <div className="panel mx-4 mb-6 overflow-x-auto">
        {show === "post-mortems" ? <PostMortemList /> : <IncidentList show={show} before={before} />}
      </div>
      {isOpening && <OpenDialog close={() => setOpening(false)} />}
    </>
  );
}

function IncidentList({ show, before }: { show?: "resolved" | "all"; before?: number }) {
  const query = useIncidents(show === "all" ? undefined : (show ?? "open"), before);
  return (
    <QueryView query={query}>
      {({ incidents, next }) => (
        <>
          {incidents.length ? (
            <DataTable label="Incidents" columns={COLUMNS} rows={incidents} rowKey={(row) => String(row.id)} />
          ) : (
            <Empty title={show ? "No incidents" : "No open incidents"}>
              An alert that fires opens one by itself; others are opened by hand.
            </Empty>
          )}
          {(next || before) && (
            <div className="flex gap-2 border-line border-t p-2">
              {before && (
                <SearchLink change={{ before: undefined }} className="btn">
                  Latest
                </SearchLink>
              )}
              {next && (
                <SearchLink change={{ before: next }} className="btn">
                  Earlier
                </SearchLink>
              )}
            </div>
          )}
        </>
      )}
    </QueryView>
  );
}

function Title({ incident }: { incident: Incident }) {
  const pid = useProjectId();
  return (
    <Link
      to="/p/$pid/incidents/$id"
      params={{ pid, id: String(incident.id) }}
      data-row-link
      className="row-link font-medium [overflow-wrap:anywhere]"
    >
      {incident.title}
    </Link>
  );
}

const COLUMNS: readonly Column<Incident>[] = [
  { key: "title", head: "Incident", card: "main", cell: (row) => <Title incident={row} /> },
  { key: "severity", head: "Severity", width: "110px", cell: (row) => <SeverityChip severity={row.severity} /> },
  { key: "status", head: "Status", width: "130px", cell: (row) => <StatusChip status={row.status} /> },
  {
    key: "project",
    head: "Project",
    width: "16%",
    className: "[overflow-wrap:anywhere]",
    cell: (row) => row.projectName ?? NONE,
  },
  { key: "started", head: "Began", num: true, width: "110px", cell: (row) => <Ago at={row.startedAt} /> },
  {
    key: "resolved",
    head: "Ended",
    num: true,
    width: "110px",
    cell: (row) => (row.resolvedAt ? <Ago at={row.resolvedAt} /> : NONE),
  },
];

function PostMortemList() {
  const query = usePostMortems(true);
  return (
    <QueryView query={query}>
      {({ postMortems }) =>
        postMortems.length ? (
          <DataTable
            label="Post-mortems"
            columns={POST_MORTEMS}
            rows={postMortems}
            rowKey={(row) => String(row.incident.id)}
          />
        ) : (
          <Empty title="No post-mortems yet">The page of an incident has its post-mortem.</Empty>
        )
      }
    </QueryView>
  );
}

const POST_MORTEMS: readonly Column<PostMortemRow>[] = [
  { key: "title", head: "Incident", card: "main", cell: (row) => <Title incident={row.incident} /> },
  {
    key: "published",
    head: "Shown",
    width: "180px",
    cell: (row) => (row.published ? <Chip tone="ok">on status pages</Chip> : <Chip>to members</Chip>),
  },
  { key: "updated", head: "Changed", num: true, width: "110px", cell: (row) => <Ago at={row.updatedAt} /> },
];

function OpenDialog({ close }: { close: () => void }) {
  const pid = useProjectId();
  const navigate = useNavigate();
  const [title, setTitle] = useState("");
  const [severity, setSeverity] = useState("warning");
  const [message, setMessage] = useState("");
  const [pages, setPages] = useState<number[]>([]);
  const open = useOpenIncident();
  const submit = () =>
    open.mutate(
      { title: title.trim(), severity, message: message.trim(), projectId: pid, statusPageIds: pages },
      { onSuccess: ({ id }) => navigate({ to: "/p/$pid/incidents/$id", params: { pid, id: String(id) } }) },
    );
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && close()} title="Open an incident">
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Field label="Title" required maxLength={200} value={title} onText={setTitle} />
        <SelectField label="Severity" value={severity} options={SEVERITIES} onChange={setSeverity} />
        <TextArea
          label="What is known"
          rows={4}
          value={message}
          onText={setMessage}
          hint="Visitors of the chosen status pages read it; their subscribers receive it."
        />
        <PageChoice chosen={pages} onChange={setPages} />
        <Problem of={open} />
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={close}>
            Cancel
          </button>
          <Submit of={open} disabled={!title.trim()}>
            Open
          </Submit>
        </div>
      </form>
    </Dialog>
  );
}
