import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { type Schedule, useDelete, useOncallOrganization, useSchedules, useTeams, useTimeline } from "../../api/oncall";
import { isoFromMs } from "../../model/time";
import { showToast } from "../../model/toasts";
import { Confirm } from "../../parts/Confirm";
import { Section } from "../../parts/Page";
import { Empty, QueryView, SkeletonRows } from "../../parts/states";
import { Chip } from "../../ui/Chip";
import { SearchLink } from "../../ui/SearchLink";
import { Segmented } from "../../ui/Segmented";
import { Overrides } from "./Overrides";
import { ScheduleEditor } from "./ScheduleEditor";
import { TimelineBars } from "./TimelineBars";

const route = getRouteApi("/p/$pid/on-call");

const DAY = 86_400_000;
const SPANS = [
  { value: "1", label: "Day" },
  { value: "7", label: "Week" },
  { value: "14", label: "2 weeks" },
  { value: "31", label: "Month" },
] as const;
type Span = (typeof SPANS)[number]["value"];

/** Schedules with their timelines, and the editor. */
export function Schedules() {
  const query = useSchedules();
  const teams = useTeams().data?.teams ?? [];
  const { isAdmin } = useOncallOrganization();
  const { schedule: chosen } = route.useSearch();
  const [edited, setEdited] = useState<Schedule | "new" | null>(null);
  const [deleted, setDeleted] = useState<Schedule | null>(null);
  const remove = useDelete("schedules");
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2">
        {chosen === undefined ? (
          <p className="text-ink2">Who is on call when. Of two layers that overlap the lower one counts.</p>
        ) : (
          <SearchLink change={{ schedule: undefined }} className="btn">
            All schedules
          </SearchLink>
        )}
        {isAdmin && teams.length > 0 && (
          <button type="button" className="btn" onClick={() => setEdited("new")}>
            New schedule
          </button>
        )}
      </div>
      <QueryView query={query}>
        {({ schedules }) => {
          const shown = schedules.filter((one) => chosen === undefined || one.id === chosen);
          return shown.length ? (
            <div className="space-y-4">
              {shown.map((schedule) => (
                <ScheduleCard
                  key={schedule.id}
                  schedule={schedule}
                  team={teams.find((team) => team.id === schedule.teamId)?.name ?? ""}
                  isOpen={schedule.id === chosen}
                  edit={isAdmin ? () => setEdited(schedule) : undefined}
                  remove={() => setDeleted(schedule)}
                />
              ))}
            </div>
          ) : (
            <Empty title={schedules.length ? "No such schedule" : "No schedules yet"}>
              {teams.length
                ? "A schedule has layers of people who take turns."
                : "Make a team first: schedules belong to a team."}
            </Empty>
          );
        }}
      </QueryView>
      {edited && (
        <ScheduleEditor schedule={edited === "new" ? null : edited} teams={teams} close={() => setEdited(null)} />
      )}
      {deleted && (
        <Confirm
          open
          onOpenChange={(open) => !open && setDeleted(null)}
          title={`Delete ${deleted.name}?`}
          label="Delete the schedule"
          of={remove}
          onConfirm={() =>
            remove.mutate(deleted.id, {
              onSuccess: () => {
                setDeleted(null);
                showToast(`Schedule ${deleted.name} deleted`);
              },
            })
          }
        >
          <p>Nobody is on call by it afterwards. This cannot be undone.</p>
        </Confirm>
      )}
    </>
  );
}

function ScheduleCard({
  schedule,
  team,
  isOpen,
  edit,
  remove,
}: {
  schedule: Schedule;
  team: string;
  isOpen: boolean;
  edit?: () => void;
  remove: () => void;
}) {
  const [span, setSpan] = useState<Span>("14");
  const [now] = useState(() => Date.now());
  const start = Math.floor(now / DAY) * DAY;
  const query = useTimeline(schedule.id, isoFromMs(start), isoFromMs(start + Number(span) * DAY));
  return (
    <Section
      title={
        <span className="flex flex-wrap items-center gap-2">
          <SearchLink change={{ schedule: schedule.id }} className="link [overflow-wrap:anywhere]">
            {schedule.name}
          </SearchLink>
          {team && <Chip>{team}</Chip>}
          <Chip tip="The time zone of handoffs and restrictions">{schedule.timezone}</Chip>
        </span>
      }
      actions={
        edit && (
          <span className="flex gap-1">
            <button type="button" className="btn" aria-label={`Edit the schedule ${schedule.name}`} onClick={edit}>
              Edit
            </button>
            <button type="button" className="btn" aria-label={`Delete the schedule ${schedule.name}`} onClick={remove}>
              Delete
            </button>
          </span>
        )
      }
    >
      <div className="space-y-3">
        {schedule.description && <p className="text-ink2 [overflow-wrap:anywhere]">{schedule.description}</p>}
        <Segmented label={`Range of ${schedule.name}`} value={span} options={[...SPANS]} onChange={setSpan} />
        <QueryView query={query} skeleton={<SkeletonRows rows={2} />}>
          {(timeline) => <TimelineBars timeline={timeline} now={now} />}
        </QueryView>
        {isOpen && <Overrides schedule={schedule.id} />}
      </div>
    </Section>
  );
}
