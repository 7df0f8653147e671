import { Plus } from "lucide-react";
import { useRef, useState } from "react";
import { type Layer, type Schedule, type Team, useMembers, usePreview, useSaveSchedule } from "../../api/oncall";
import { isoFromMs } from "../../model/time";
import { browserZone } from "../../model/zones";
import { Problem, Submit } from "../../parts/MutationButton";
import { ZoneSelect } from "../../parts/ZoneSelect";
import { Dialog } from "../../ui/Dialog";
import { Field } from "../../ui/Field";
import { SelectField } from "../../ui/SelectField";
import { LayerEditor } from "./LayerEditor";
import { TimelineBars } from "./TimelineBars";

const DAY = 86_400_000;

function newLayer(index: number): Layer {
  return {
    id: `layer-${index + 1}-${Date.now()}`,
    name: "",
    rotationType: "weekly",
    handoffTime: "09:00",
    handoffDay: 1,
    intervalDays: 1,
    rotationStart: new Date().toISOString().slice(0, 10),
    userIds: [],
    restrictions: [],
  };
}

/** Edits a schedule; its timeline is drawn while it is edited. */
export function ScheduleEditor({
  schedule,
  teams,
  close,
}: {
  schedule: Schedule | null;
  teams: Team[];
  close: () => void;
}) {
  const [name, setName] = useState(schedule?.name ?? "");
  const [description, setDescription] = useState(schedule?.description ?? "");
  const [teamId, setTeam] = useState(schedule?.teamId ?? teams[0]?.id ?? 0);
  const [timezone, setTimezone] = useState(schedule?.timezone ?? browserZone());
  const [layers, setLayers] = useState<Layer[]>(() => schedule?.definition.layers ?? [newLayer(0)]);
  const people = (useMembers().data ?? []).map((one) => ({ id: one.userId, name: one.name || one.email }));
  const save = useSaveSchedule();
  const change = (index: number, layer: Layer | null) => {
    const next = [...layers];
    next.splice(index, 1, ...(layer ? [layer] : []));
    setLayers(next);
  };
  const form = useRef<HTMLFormElement>(null);
  const move = (index: number, by: -1 | 1) => {
    const next = [...layers];
    const [layer] = next.splice(index, 1);
    if (layer) next.splice(index + by, 0, layer);
    setLayers(next);
  };
  return (
    <Dialog
      open
      wide
      onOpenChange={(open) => !open && close()}
      title={schedule ? `Edit ${schedule.name}` : "New schedule"}
      initialFocus={() => form.current?.querySelector("input")}
    >
      <form
        ref={form}
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          const body = { teamId, name, description, timezone, definition: { layers } };
          save.mutate({ id: schedule?.id, body }, { onSuccess: close });
        }}
      >
        <div className="grid gap-3 sm:grid-cols-2">
          <Field label="Name" value={name} onText={setName} required maxLength={100} />
          <SelectField
            label="Team"
            value={String(teamId)}
            options={teams.map((team) => ({ value: String(team.id), label: team.name }))}
            onChange={(id) => setTeam(Number(id))}
          />
          <Field label="Purpose" value={description} onText={setDescription} maxLength={1000} />
          <ZoneSelect label="Time zone" value={timezone} onChange={setTimezone} />
        </div>
        {layers.map((layer, index) => (
          <LayerEditor
            key={layer.id}
            number={index + 1}
            layer={layer}
            people={people}
            change={(next) => change(index, next)}
            remove={layers.length > 1 ? () => change(index, null) : undefined}
            up={index > 0 ? () => move(index, -1) : undefined}
            down={index < layers.length - 1 ? () => move(index, 1) : undefined}
          />
        ))}
        {layers.length < 10 && (
          <button type="button" className="btn" onClick={() => setLayers([...layers, newLayer(layers.length)])}>
            <Plus size={14} aria-hidden /> Add a layer
          </button>
        )}
        <Preview timezone={timezone} layers={layers} />
        <Problem of={save} />
        <div className="flex flex-wrap justify-end gap-2">
          <button type="button" className="btn" onClick={close}>
            Cancel
          </button>
          <Submit of={save} busy="Saving…" disabled={layers.some((layer) => layer.userIds.length === 0)}>
            Save
          </Submit>
        </div>
      </form>
    </Dialog>
  );
}

/** The next two weeks, of the layers that have people. */
function Preview({ timezone, layers }: { timezone: string; layers: Layer[] }) {
  const [now] = useState(() => Date.now());
  const start = Math.floor(now / DAY) * DAY;
  const complete = layers.filter((layer) => layer.userIds.length > 0);
  const query = usePreview(timezone, { layers: complete }, isoFromMs(start), isoFromMs(start + 14 * DAY));
  return (
    <section aria-label="Preview of the next two weeks">
      <h3 className="mb-1 font-semibold">The next two weeks</h3>
      {query.error ? <Problem of={query} /> : query.data && <TimelineBars timeline={query.data} now={now} />}
    </section>
  );
}
