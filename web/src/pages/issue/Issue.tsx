import { getRouteApi } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight, SearchCheck, Waypoints } from "lucide-react";
import { useEffect } from "react";
import { useMayWrite } from "../../api/account";
import { usePost } from "../../api/hooks";
import { useSetState } from "../../api/issues";
import { useWholeOccurrence } from "../../api/whole";
import { brief, count, NONE, plural } from "../../model/format";
import { changeOfIssue } from "../../model/open-changes";
import { exactTime } from "../../model/time";
import type { IssueDetail, IssueState } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { AlertOnThis } from "../../parts/AlertOnThis";
import { AttributeTable } from "../../parts/AttributeTable";
import { CutNote } from "../../parts/CutNote";
import { Estimated, EstimatedNote } from "../../parts/Estimated";
import { AssignSelect, StateActions, StateChip } from "../../parts/IssueActions";
import { OwnerLink } from "../../parts/IssueCells";
import { IssueTrend } from "../../parts/IssueTrend";
import { usePatchSearch } from "../../parts/listSearch";
import { ChangeChip, useChanges } from "../../parts/OpenChange";
import { TraceLink } from "../../parts/occurrenceColumns";
import { PageHead, Section } from "../../parts/Page";
import { QueryView, SkeletonRows } from "../../parts/states";
import { useKeys } from "../../ui/keys";
import { SearchLink } from "../../ui/SearchLink";
import { Activity } from "./Activity";
import { ALL_EVENTS, Causes } from "./Causes";
import { Grouping } from "./Grouping";
import { Hashes } from "./Hashes";
import { Recording } from "./Recording";
import { Similar } from "./Similar";
import { Stack } from "./Stack";
import { Tags } from "./Tags";

const route = getRouteApi("/p/$pid/issues/$hash");

export function IssuePage() {
  const { hash } = route.useParams();
  const { event = 1 } = route.useSearch();
  const query = usePost(
    "/api/exception-stack-traces/{hash}",
    { pagination: { page: event, pageSize: 1 }, withoutTags: true },
    { path: { hash } },
  );
  // The address of a hash that was merged or joined leads to its issue.
  const navigate = route.useNavigate();
  const primary = query.isPlaceholderData ? undefined : query.data?.group.exceptionHash;
  useEffect(() => {
    if (primary && primary !== hash)
      void navigate({ params: (before) => ({ ...before, hash: primary }), search: true, replace: true });
  }, [primary, hash, navigate]);
  return (
    <QueryView query={query} skeleton={<SkeletonRows rows={10} />}>
      {(detail) => <Detail detail={detail} event={event} />}
    </QueryView>
  );
}

function Detail({ detail: answer, event }: { detail: IssueDetail; event: number }) {
  const { group, pagination } = answer;
  const whole = useWholeOccurrence(answer.occurrences?.[0]);
  const occurrence = whole.row;
  const detail = { ...answer, occurrences: occurrence ? [occurrence] : [] };
  const search = route.useSearch();
  const patch = usePatchSearch();
  const explain = () => patch({ explain: search.explain ? undefined : ALL_EVENTS, where: undefined });
  const change = useSetState();
  const hashes = [group.exceptionHash];
  const mayChange = useMayWrite();
  const set = (state: IssueState) =>
    mayChange && change.mutate({ hashes, state: group.state === state ? "open" : state });
  useKeys({ e: () => set("archived"), v: () => set("resolved") });
  return (
    <>
      <PageHead
        title={group.exceptionType || group.title}
        sub={
          <>
            <StateChip issue={group} /> <OpenChange hash={group.exceptionHash} title={group.title} />
            {group.firstVersion && <span>since {brief(group.firstVersion, 40)}</span>}{" "}
            <span className="text-ink [overflow-wrap:anywhere]" title={group.message}>
              {brief(group.message || (group.title !== group.exceptionType ? group.title : ""), 500)}
            </span>
          </>
        }
        actions={
          <>
            <button type="button" className="btn" aria-pressed={!!search.explain} onClick={explain}>
              <SearchCheck size={14} aria-hidden /> Explain
            </button>
            <AlertOnThis
              type="issue_spike"
              config={{ exceptionHash: group.exceptionHash }}
              name={`Spike of ${group.title}`}
            />
            <AssignSelect hashes={hashes} value={group.assignee?.userId ?? 0} />
            <StateActions hashes={hashes} states={[group.state]} />
          </>
        }
      />
      <div className="grid gap-4 px-4 pb-6 xl:grid-cols-[minmax(0,1fr)_320px]">
        <div className="min-w-0 space-y-4">
          <EventBar event={event} total={pagination.total} at={occurrence?.recordedAt} />
          <Causes hash={group.exceptionHash} search={search} />
          <CutNote of={whole} />
          <Stack detail={detail} />
          {(occurrence?.hasRecording || occurrence?.sessionId) && (
            <Recording key={occurrence.id} occurrence={occurrence} title={group.title} />
          )}
          {occurrence && (
            <Section title="Attributes of this event">
              <AttributeTable
                attributes={occurrence.attributes}
                label="Attributes of the event"
                empty="The event carried no attributes."
              />
            </Section>
          )}
          <Activity hash={group.exceptionHash} />
        </div>
        <aside aria-label="About this issue" className="min-w-0 space-y-4">
          <Facts detail={detail} />
          {detail.grouping && <Grouping grouping={detail.grouping} />}
          {group.mergedHashes.length > 0 && (
            <section aria-label="Merged issues" className="panel p-3">
              <h2 className="font-semibold">Merged into this issue</h2>
              <Hashes hashes={group.mergedHashes} />
            </section>
          )}
          <Similar hash={group.exceptionHash} />
          <IssueTrend points={group.hourlyTrend} />
          <AllTags hash={group.exceptionHash} />
        </aside>
      </div>
    </>
  );
}

/** The chip of the open change to which the Issue belongs; nothing without one. */
function OpenChange({ hash, title }: { hash: string; title: string }) {
  const card = changeOfIssue(useChanges(), hash, title);
  return card ? <ChangeChip card={card} suffers={false} /> : null;
}

/** Tags of all events. Loaded separately: counting them takes longer than the rest of the page. */
function AllTags({ hash }: { hash: string }) {
  const query = usePost(
    "/api/exception-stack-traces/{hash}",
    { pagination: { page: 1, pageSize: 1 } },
    { path: { hash }, keep: false },
  );
  return (
    <QueryView query={query} skeleton={<SkeletonRows rows={6} />}>
      {(detail) => <Tags tags={detail.tags} events={detail.taggedCount} />}
    </QueryView>
  );
}

function EventBar({ event, total, at }: { event: number; total: number; at?: string }) {
  const patch = usePatchSearch();
  const go = (to: number) => to >= 1 && to <= total && patch({ event: to === 1 ? undefined : to }, true);
  useKeys({ n: () => go(event + 1), p: () => go(event - 1) });
  return (
    <nav aria-label="Events of this issue" className="flex flex-wrap items-center gap-2">
      <Step to={event - 1} total={total} label="Newer event (p)" icon={<ChevronLeft size={14} aria-hidden />} />
      <span className="font-medium">
        Event {count(event)} of {count(total)}
      </span>
      <Step to={event + 1} total={total} label="Older event (n)" icon={<ChevronRight size={14} aria-hidden />} />
      {at && <span className="text-ink2">{exactTime(at)}</span>}
    </nav>
  );
}

function Step({ to, total, label, icon }: { to: number; total: number; label: string; icon: React.ReactNode }) {
  if (to < 1 || to > total)
    return (
      <span aria-hidden className="btn btn-icon opacity-40">
        {icon}
      </span>
    );
  return (
    <SearchLink change={{ event: to === 1 ? undefined : to }} replace className="btn btn-icon" label={label}>
      {icon}
    </SearchLink>
  );
}

function Facts({ detail }: { detail: IssueDetail }) {
  const { group, relatedEntity } = detail;
  const occurrence = detail.occurrences?.[0];
  const rows: [string, React.ReactNode][] = [
    [
      "Events",
      <Estimated key="e" of={group}>
        {plural(group.count, "event")}
      </Estimated>,
    ],
    ["Users", group.users === null ? "> 1M" : group.users ? count(group.users) : NONE],
    ["Last seen", <Ago key="l" at={group.lastSeen} />],
    ["First seen", <Ago key="f" at={group.firstSeen} />],
    [
      "Where",
      <OwnerLink
        key="o"
        type={relatedEntity?.traceType ?? occurrence?.ownerType}
        name={relatedEntity?.name ?? occurrence?.ownerName}
      />,
    ],
    ["Server", occurrence?.serverName || NONE],
    ["Version", occurrence?.appVersion || NONE],
    ["First version", group.firstVersion || NONE],
    ["Last version", group.lastVersion || NONE],
  ];
  return (
    <section aria-label="Facts" className="panel p-3">
      <dl className="space-y-1.5">
        {rows.map(([label, value]) => (
          <div key={label} className="flex items-baseline justify-between gap-4">
            <dt className="shrink-0 text-ink2">{label}</dt>
            <dd className="min-w-0 text-right [overflow-wrap:anywhere]">{value}</dd>
          </div>
        ))}
      </dl>
      {detail.regression && (
        <p className="mt-2 text-error">
          Regressed <Ago at={detail.regression.at} />
          {detail.regression.version && ` in version ${detail.regression.version}`}
        </p>
      )}
      <EstimatedNote of={[group]} className="mt-2" />
      {occurrence?.traceId && (
        <TraceLink
          traceId={occurrence.traceId}
          spanId={occurrence.spanId}
          at={occurrence.recordedAt}
          className="btn btn-primary mt-3 w-full"
        >
          <Waypoints size={14} aria-hidden /> View trace
        </TraceLink>
      )}
    </section>
  );
}
