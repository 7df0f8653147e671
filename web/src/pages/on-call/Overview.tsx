import { getRouteApi } from "@tanstack/react-router";
import { type ScheduleNow, useHandover, useNow, useOncallOrganization, usePages } from "../../api/oncall";
import { dateTime, parseMs } from "../../model/time";
import { Section } from "../../parts/Page";
import { Empty, QueryView, SkeletonRows } from "../../parts/states";
import { Chip } from "../../ui/Chip";
import { SearchLink } from "../../ui/SearchLink";
import { Select } from "../../ui/Select";
import { PageTable } from "./PageTable";

const route = getRouteApi("/p/$pid/on-call");

/** People who are on call now, open pages, and the handover of the last shift. */
export function Overview() {
  const now = useNow();
  const open = usePages("active", 1);
  const { isAdmin } = useOncallOrganization();
  const schedules = now.data?.teams.flatMap((team) => team.schedules) ?? [];
  return (
    <>
      <Section title="On call now">
        <QueryView query={now} skeleton={<SkeletonRows rows={3} />}>
          {({ teams }) =>
            teams.some((team) => team.schedules.length > 0) ? (
              <div className="space-y-4">
                {teams
                  .filter((one) => one.schedules.length > 0)
                  .map(({ team, schedules: own }) => (
                    <section key={team.id} aria-label={`Team ${team.name}`}>
                      <h3 className="mb-2 font-medium text-ink2 [overflow-wrap:anywhere]">{team.name}</h3>
                      <ul className="grid gap-2 sm:grid-cols-2 xl:grid-cols-3">
                        {own.map((schedule) => (
                          <NowCard key={schedule.id} schedule={schedule} />
                        ))}
                      </ul>
                    </section>
                  ))}
              </div>
            ) : (
              <Empty
                title="Nobody is on call yet"
                action={
                  isAdmin && (
                    <SearchLink change={{ tab: teams.length ? "schedules" : "teams" }} className="btn btn-primary">
                      {teams.length ? "Make a schedule" : "Make a team"}
                    </SearchLink>
                  )
                }
              >
                A team has schedules; an escalation policy reaches who is on call by a schedule.
              </Empty>
            )
          }
        </QueryView>
      </Section>
      <Section title="Pages that are not resolved" flush>
        <QueryView query={open} skeleton={<SkeletonRows rows={3} />}>
          {({ data }) =>
            data.length ? (
              <PageTable pages={data} />
            ) : (
              <Empty title="No open pages">Nobody is waiting for an answer in this project.</Empty>
            )
          }
        </QueryView>
      </Section>
      {schedules.length > 0 && <HandoverPart schedules={schedules} />}
    </>
  );
}

function NowCard({ schedule }: { schedule: ScheduleNow }) {
  const person = schedule.oncall[0];
  const until = schedule.until && dateTime(parseMs(schedule.until));
  return (
    <li className="rounded-control border border-line p-3">
      <SearchLink
        change={{ tab: "schedules", schedule: schedule.id }}
        className="link text-dense [overflow-wrap:anywhere]"
      >
        {schedule.name}
      </SearchLink>
      <p className="mt-1 font-semibold text-section [overflow-wrap:anywhere]">
        {person ? person.name || person.email : "Nobody"}
      </p>
      <p className="text-dense text-ink2 [overflow-wrap:anywhere]">
        {person && until && <>until {until}. </>}
        {schedule.nextUp && schedule.nextAt && (
          <>
            Next: {schedule.nextUp.name || schedule.nextUp.email}, {dateTime(parseMs(schedule.nextAt))}.
          </>
        )}
      </p>
    </li>
  );
}

/** Facts about the last shift that the next person on call must know. */
function HandoverPart({ schedules }: { schedules: ScheduleNow[] }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const chosen = schedules.find((one) => one.id === search.schedule) ?? schedules[0];
  const query = useHandover(chosen?.id);
  return (
    <Section
      title="Handover of the last shift"
      flush
      actions={
        <Select
          label="Schedule"
          value={String(chosen?.id)}
          options={schedules.map((one) => ({ value: String(one.id), label: one.name }))}
          onChange={(id) => navigate({ search: (old) => ({ ...old, schedule: Number(id) }), replace: true })}
        />
      }
    >
      <QueryView query={query} skeleton={<SkeletonRows rows={3} />}>
        {({ shift, person, pages, open, acknowledged, resolved }) =>
          shift ? (
            <>
              <p className="flex flex-wrap items-center gap-2 px-3 py-2 text-ink2">
                <span>
                  {person ? person.name || person.email : "Somebody who left"}, {dateTime(parseMs(shift.start))} to{" "}
                  {dateTime(parseMs(shift.end))}
                </span>
                <Chip tone={open ? "error" : "plain"}>{open} open</Chip>
                <Chip tone={acknowledged ? "warn" : "plain"}>{acknowledged} acknowledged</Chip>
                <Chip tone="ok">{resolved} resolved</Chip>
              </p>
              {pages.length > 0 && <PageTable pages={pages} label="Pages of the last shift" fixed />}
            </>
          ) : (
            <p className="p-3 text-ink2">No shift of this schedule has ended in the last 62 days.</p>
          )
        }
      </QueryView>
    </Section>
  );
}
