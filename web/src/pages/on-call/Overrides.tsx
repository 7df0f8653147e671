import { useState } from "react";
import { useBundle } from "../../api/account";
import { useAddOverride, useDeleteOverride, useMembers, useOncallOrganization, useSchedule } from "../../api/oncall";
import { dateTime, isoFromMs, parseMs } from "../../model/time";
import { MutationButton, Problem, Submit } from "../../parts/MutationButton";
import { QueryView, SkeletonRows } from "../../parts/states";
import { Field } from "../../ui/Field";
import { SelectField } from "../../ui/SelectField";

/** A time as `datetime-local` fields write it, in the zone of the browser. */
function localInput(ms: number): string {
  const date = new Date(ms);
  return new Date(ms - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Overrides of a schedule. Every member covers for somebody. */
export function Overrides({ schedule }: { schedule: number }) {
  const query = useSchedule(schedule);
  const members = useMembers().data ?? [];
  const me = useBundle()?.user.id;
  const { isAdmin } = useOncallOrganization();
  const remove = useDeleteOverride(schedule);
  const name = (id: number) => {
    const person = members.find((one) => one.userId === id);
    return person ? person.name || person.email : "somebody who left";
  };
  return (
    <section aria-label="Overrides" className="space-y-2 border-line border-t pt-3">
      <h3 className="font-semibold">Overrides</h3>
      <QueryView query={query} skeleton={<SkeletonRows rows={2} />}>
        {({ overrides }) =>
          overrides.length ? (
            <ul className="divide-y divide-line">
              {overrides.map((one) => (
                <li key={one.id} className="flex flex-wrap items-center justify-between gap-2 py-1.5">
                  <span className="[overflow-wrap:anywhere]">
                    {name(one.userId)}, {dateTime(parseMs(one.startAt))} to {dateTime(parseMs(one.endAt))}
                  </span>
                  {(isAdmin || one.userId === me || one.createdBy === me) && (
                    <MutationButton
                      of={remove}
                      aria-label={`Remove the override of ${name(one.userId)}`}
                      onClick={() => remove.mutate(one.id)}
                    >
                      Remove
                    </MutationButton>
                  )}
                </li>
              ))}
            </ul>
          ) : (
            <p className="text-ink2">None. An override replaces who is on call, for at most 30 days.</p>
          )
        }
      </QueryView>
      <Problem of={remove} />
      <NewOverride schedule={schedule} people={members.map((one) => ({ id: one.userId, name: name(one.userId) }))} />
    </section>
  );
}

function NewOverride({ schedule, people }: { schedule: number; people: { id: number; name: string }[] }) {
  const [user, setUser] = useState("");
  const [start, setStart] = useState(() => localInput(Date.now()));
  const [end, setEnd] = useState(() => localInput(Date.now() + 4 * 3_600_000));
  const add = useAddOverride(schedule);
  return (
    <form
      className="grid items-end gap-3 sm:grid-cols-4"
      onSubmit={(event) => {
        event.preventDefault();
        const body = {
          userId: Number(user),
          startAt: isoFromMs(new Date(start).getTime()),
          endAt: isoFromMs(new Date(end).getTime()),
        };
        add.mutate(body, { onSuccess: () => setUser("") });
      }}
    >
      <SelectField
        label="Who covers"
        value={user}
        options={[
          { value: "", label: "Choose…" },
          ...people.map((one) => ({ value: String(one.id), label: one.name })),
        ]}
        onChange={setUser}
      />
      <Field label="From, time of this browser" type="datetime-local" required value={start} onText={setStart} />
      <Field label="To, time of this browser" type="datetime-local" required value={end} onText={setEnd} />
      <Submit of={add} busy="Saving…" disabled={!user || !start || !end}>
        Add override
      </Submit>
      <div className="sm:col-span-4">
        <Problem of={add} />
      </div>
    </form>
  );
}
