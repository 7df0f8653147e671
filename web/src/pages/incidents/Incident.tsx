// One incident: timeline, alerts, updates, status pages, post-mortem.
import { getRouteApi } from "@tanstack/react-router";
import { Bell, BellOff, Bug, MessageSquare, Rocket, Siren } from "lucide-react";
import { useState } from "react";
import { useMayWrite } from "../../api/account";
import { useChangeIncident, useIncident, useUpdateIncident } from "../../api/incidents";
import { exactTime } from "../../model/time";
import { showToast } from "../../model/toasts";
import type { IncidentDetail, TimelineEntry } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { Problem, Submit } from "../../parts/MutationButton";
import { PageHead, Section } from "../../parts/Page";
import { QueryView, SkeletonRows } from "../../parts/states";
import { Chip } from "../../ui/Chip";
import { Field } from "../../ui/Field";
import { SelectField } from "../../ui/SelectField";
import { TextArea } from "../../ui/TextArea";
import { SEVERITIES, SeverityChip, STATUSES, StatusChip } from "./marks";
import { PageChoice } from "./PageChoice";
import { PostMortemSection } from "./PostMortem";

const route = getRouteApi("/p/$pid/incidents/$id");

export function IncidentPage() {
  const { id } = route.useParams();
  const query = useIncident(id);
  const mayWrite = useMayWrite();
  const incident = query.data?.incident;
  return (
    <>
      <PageHead
        title={incident?.title ?? "Incident"}
        sub={
          incident && (
            <>
              <SeverityChip severity={incident.severity} />
              <StatusChip status={incident.status} />
              {incident.automatic && <Chip tip="Resolved some minutes after its alerts end">of alerts</Chip>}
              {incident.projectName && <span>{incident.projectName}</span>}
              <span title={exactTime(incident.startedAt)}>
                began <Ago at={incident.startedAt} />
              </span>
            </>
          )
        }
      />
      <div className="px-4 pb-6">
        <QueryView query={query} skeleton={<SkeletonRows rows={6} />}>
          {(detail) => (
            <div className="grid items-start gap-4 xl:grid-cols-2">
              <div className="min-w-0 space-y-4">
                {mayWrite && <UpdateForm key={detail.incident.status} id={id} detail={detail} />}
                <Section title="Timeline" flush>
                  <Timeline entries={detail.timeline} />
                  {detail.lacksIssues && (
                    <p className="border-line border-t px-3 py-2 text-ink2">
                      Issues are missing: they could not be read. Load the page again to see them.
                    </p>
                  )}
                </Section>
              </div>
              <div className="min-w-0 space-y-4">
                <Alerts detail={detail} />
                {mayWrite && <Settings id={id} detail={detail} />}
                <PostMortemSection
                  id={id}
                  stored={detail.postMortem ?? null}
                  draft={detail.postMortemDraft}
                  mayWrite={mayWrite}
                />
              </div>
            </div>
          )}
        </QueryView>
      </div>
    </>
  );
}

function UpdateForm({ id, detail }: { id: string; detail: IncidentDetail }) {
  const isOver = detail.incident.status === "resolved";
  const [status, setStatus] = useState(isOver ? "investigating" : detail.incident.status);
  const [message, setMessage] = useState("");
  const update = useUpdateIncident(id);
  return (
    <Section title={isOver ? "Open it again" : "Write an update"}>
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          update.mutate(
            { status, message: message.trim() },
            {
              onSuccess: () => {
                setMessage("");
                showToast("Update written");
              },
            },
          );
        }}
      >
        <SelectField
          label="Status"
          value={status}
          options={STATUSES.filter((one) => !isOver || one.value !== "resolved")}
          onChange={setStatus}
        />
        <TextArea
          label="What is known"
          rows={3}
          value={message}
          onText={setMessage}
          hint={
            detail.statusPageIds.length
              ? "Visitors of its status pages read it; their subscribers receive it."
              : undefined
          }
        />
        <Problem of={update} />
        <Submit of={update} disabled={!message.trim()}>
          Write the update
        </Submit>
      </form>
    </Section>
  );
}

const KINDS: Record<string, { icon: typeof Siren; word: string; className: string }> = {
  opened: { icon: Siren, word: "Opened", className: "text-ink2" },
  alert_fired: { icon: Bell, word: "Alert", className: "text-error" },
  alert_ended: { icon: BellOff, word: "Alert ended", className: "text-ok" },
  update: { icon: MessageSquare, word: "Update", className: "text-accent" },
  deploy: { icon: Rocket, word: "Deploy", className: "text-ink2" },
  issue_new: { icon: Bug, word: "New Issue", className: "text-warn" },
  issue_regressed: { icon: Bug, word: "Issue is back", className: "text-warn" },
};

function Timeline({ entries }: { entries: TimelineEntry[] }) {
  return (
    <ol aria-label="Timeline">
      {entries.map((entry, index) => {
        const { icon: Icon, word, className } = KINDS[entry.kind] ?? KINDS.update;
        const status = STATUSES.find((one) => one.value === entry.title)?.label;
        return (
          <li key={index} className="flex gap-3 border-line border-b px-3 py-2 last:border-b-0">
            <Icon size={14} aria-hidden className={`mt-1 shrink-0 ${className}`} />
            <div className="min-w-0 flex-1">
              <div className="flex flex-wrap items-baseline justify-between gap-x-3">
                <span className="[overflow-wrap:anywhere]">
                  <span className="font-medium">{word}:</span>{" "}
                  {entry.path.startsWith("/") ? (
                    <a href={entry.path} className="link">
                      {entry.title}
                    </a>
                  ) : (
                    (status ?? entry.title)
                  )}
                </span>
                <time dateTime={entry.time} className="text-dense text-ink2">
                  {exactTime(entry.time)}
                </time>
              </div>
              {entry.message && <p className="mt-1 whitespace-pre-line [overflow-wrap:anywhere]">{entry.message}</p>}
              {entry.author && <p className="text-dense text-ink2">{entry.author}</p>}
            </div>
          </li>
        );
      })}
    </ol>
  );
}

function Alerts({ detail: { alerts } }: { detail: IncidentDetail }) {
  return (
    <Section title="Alerts" flush>
      {alerts.length ? (
        <ul aria-label="Alerts">
          {alerts.map((alert) => (
            <li
              key={`${alert.subject} ${alert.firedAt}`}
              className="flex flex-wrap items-baseline justify-between gap-x-3 gap-y-1 border-line border-b px-3 py-2 last:border-b-0"
            >
              <a
                href={alert.path.startsWith("/") ? alert.path : undefined}
                className="link min-w-0 [overflow-wrap:anywhere]"
              >
                {alert.subject}
              </a>
              <span className="flex items-center gap-2 text-ink2">
                <SeverityChip severity={alert.severity} />
                {alert.momentary ? (
                  <span>
                    fired <Ago at={alert.firedAt} />
                  </span>
                ) : alert.resolvedAt ? (
                  <span>
                    ended <Ago at={alert.resolvedAt} />
                  </span>
                ) : (
                  <span>fires</span>
                )}
              </span>
            </li>
          ))}
        </ul>
      ) : (
        <p className="px-3 py-3 text-ink2">A person has opened it; no alert has joined.</p>
      )}
    </Section>
  );
}

function Settings({ id, detail }: { id: string; detail: IncidentDetail }) {
  const [title, setTitle] = useState(detail.incident.title);
  const [severity, setSeverity] = useState(detail.incident.severity);
  const [pages, setPages] = useState(detail.statusPageIds);
  const change = useChangeIncident(id);
  return (
    <Section title="Settings">
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate(
            { title: title.trim(), severity, statusPageIds: pages },
            { onSuccess: () => showToast("Saved") },
          );
        }}
      >
        <Field label="Title" required maxLength={200} value={title} onText={setTitle} />
        <SelectField label="Severity" value={severity} options={SEVERITIES} onChange={setSeverity} />
        <PageChoice chosen={pages} onChange={setPages} />
        <Problem of={change} />
        <Submit of={change} className="btn" disabled={!title.trim()}>
          Save
        </Submit>
      </form>
    </Section>
  );
}
