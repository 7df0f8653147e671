import { ArrowDown, ArrowUp, Trash2 } from "lucide-react";
import type { Layer, Restriction } from "../../api/oncall";
import { Field } from "../../ui/Field";
import { SelectField } from "../../ui/SelectField";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"].map((label, day) => ({
  value: String(day),
  label,
}));

const ROTATIONS = [
  { value: "daily", label: "Every day" },
  { value: "weekly", label: "Every week" },
  { value: "days", label: "Every few days" },
  { value: "hours", label: "Every few hours" },
];

interface Props {
  number: number;
  layer: Layer;
  people: { id: number; name: string }[];
  change: (layer: Layer) => void;
  remove?: () => void;
  up?: () => void;
  down?: () => void;
}

/** One layer: who takes turns, when turns change, and the hours to which it is limited. */
export function LayerEditor({ number, layer, people, change, remove, up, down }: Props) {
  const rotation = layer.rotationType !== "custom" ? layer.rotationType : layer.intervalHours ? "hours" : "days";
  const set = (next: Partial<Layer>) => change({ ...layer, ...next });
  const rotate = (value: string) =>
    set({
      rotationType: value === "daily" || value === "weekly" ? value : "custom",
      intervalHours: value === "hours" ? 12 : 0,
      intervalDays: value === "days" ? 2 : 1,
    });
  const name = (id: number) => people.find((one) => one.id === id)?.name ?? "somebody who left";
  const swap = (index: number) => {
    const next = [...layer.userIds];
    const [moved] = next.splice(index, 1);
    if (moved !== undefined) next.splice(index - 1, 0, moved);
    set({ userIds: next });
  };
  const restrict = (index: number, one: Restriction | null) => {
    const next = [...layer.restrictions];
    next.splice(index, 1, ...(one ? [one] : []));
    set({ restrictions: next });
  };
  return (
    <fieldset className="space-y-3 rounded-control border border-line p-3">
      <legend className="px-1 font-medium">Layer {number}</legend>
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Layer name" value={layer.name} onText={(value) => set({ name: value })} maxLength={100} />
        <SelectField label="Turns change" value={rotation} options={ROTATIONS} onChange={rotate} />
        <Field
          label="First turn"
          type="date"
          required
          value={layer.rotationStart.slice(0, 10)}
          onText={(value) => set({ rotationStart: value })}
        />
        <Field
          label="Handoff at"
          type="time"
          required
          value={layer.handoffTime}
          onText={(value) => set({ handoffTime: value.slice(0, 5) })}
        />
        {rotation === "weekly" && (
          <SelectField
            label="Handoff on"
            value={String(layer.handoffDay)}
            options={DAYS}
            onChange={(day) => set({ handoffDay: Number(day) })}
          />
        )}
        {rotation === "days" && (
          <Field
            label="Days of a turn"
            type="number"
            min={1}
            max={365}
            required
            value={String(layer.intervalDays)}
            onText={(value) => set({ intervalDays: Number(value) })}
          />
        )}
        {rotation === "hours" && (
          <Field
            label="Hours of a turn"
            type="number"
            min={1}
            max={8760}
            required
            value={String(layer.intervalHours)}
            onText={(value) => set({ intervalHours: Math.max(1, Number(value)) })}
          />
        )}
      </div>
      <div>
        <ol aria-label={`People of layer ${number}`} className="space-y-1">
          {layer.userIds.map((id, index) => (
            <li key={index} className="flex items-center gap-1">
              <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
                {index + 1}. {name(id)}
              </span>
              {index > 0 && (
                <button
                  type="button"
                  className="btn btn-ghost btn-icon"
                  aria-label={`Move ${name(id)} up`}
                  onClick={() => swap(index)}
                >
                  <ArrowUp size={14} aria-hidden />
                </button>
              )}
              <button
                type="button"
                className="btn btn-ghost btn-icon"
                aria-label={`Remove ${name(id)} from layer ${number}`}
                onClick={() => set({ userIds: layer.userIds.filter((_, at) => at !== index) })}
              >
                <Trash2 size={14} aria-hidden />
              </button>
            </li>
          ))}
        </ol>
        <SelectField
          label={`Who takes turns in layer ${number}`}
          value=""
          options={[
            { value: "", label: "Add somebody…" },
            ...people.map((one) => ({ value: String(one.id), label: one.name })),
          ]}
          onChange={(id) => id && set({ userIds: [...layer.userIds, Number(id)] })}
        />
      </div>
      {layer.restrictions.map((one, index) => (
        <RestrictionFields key={index} number={index + 1} restriction={one} change={(next) => restrict(index, next)} />
      ))}
      <div className="flex flex-wrap gap-2">
        <button
          type="button"
          className="btn"
          onClick={() =>
            set({
              restrictions: [...layer.restrictions, { type: "daily", startTime: "09:00", endTime: "17:00" }],
            })
          }
        >
          Limit to hours
        </button>
        {up && (
          <button type="button" className="btn" aria-label={`Move layer ${number} up`} onClick={up}>
            <ArrowUp size={14} aria-hidden /> Up
          </button>
        )}
        {down && (
          <button type="button" className="btn" aria-label={`Move layer ${number} down`} onClick={down}>
            <ArrowDown size={14} aria-hidden /> Down
          </button>
        )}
        {remove && (
          <button type="button" className="btn" aria-label={`Remove layer ${number}`} onClick={remove}>
            Remove
          </button>
        )}
      </div>
    </fieldset>
  );
}

function RestrictionFields({
  number,
  restriction,
  change,
}: {
  number: number;
  restriction: Restriction;
  change: (restriction: Restriction | null) => void;
}) {
  const { startTime, endTime } = restriction;
  const set = (next: Partial<Restriction>) => change({ ...restriction, ...next } as Restriction);
  const retype = (type: string) =>
    change(
      type === "daily"
        ? { type: "daily", startTime, endTime }
        : { type: "weekly", startDay: 1, startTime, endDay: 5, endTime },
    );
  return (
    <fieldset className="grid items-end gap-3 sm:grid-cols-3">
      <legend className="mb-1 text-ink2">Hours {number}</legend>
      <SelectField
        label={`Hours ${number} are`}
        value={restriction.type}
        options={[
          { value: "daily", label: "of every day" },
          { value: "weekly", label: "of the week" },
        ]}
        onChange={retype}
      />
      {restriction.type === "weekly" && (
        <SelectField
          label="From day"
          value={String(restriction.startDay)}
          options={DAYS}
          onChange={(day) => set({ startDay: Number(day) })}
        />
      )}
      <Field
        label="From"
        type="time"
        required
        value={startTime}
        onText={(value) => set({ startTime: value.slice(0, 5) })}
      />
      {restriction.type === "weekly" && (
        <SelectField
          label="To day"
          value={String(restriction.endDay)}
          options={DAYS}
          onChange={(day) => set({ endDay: Number(day) })}
        />
      )}
      <Field label="To" type="time" required value={endTime} onText={(value) => set({ endTime: value.slice(0, 5) })} />
      <button type="button" className="btn" aria-label={`Remove hours ${number}`} onClick={() => change(null)}>
        Remove
      </button>
    </fieldset>
  );
}
