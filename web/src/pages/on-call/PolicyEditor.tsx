import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { type Policy, type StepTarget, useSavePolicy } from "../../api/oncall";
import { Problem, Submit } from "../../parts/MutationButton";
import { Dialog } from "../../ui/Dialog";
import { Field } from "../../ui/Field";
import { SelectField } from "../../ui/SelectField";
import { targetName, targetOf, targetValue, URGENCIES, useTargetNames } from "./targets";

interface Step {
  key: number;
  targets: StepTarget[];
  minutes: string;
}

let last = 0;
const key = () => {
  last += 1;
  return last;
};

/** Edits a policy: its steps, how often they repeat, and the urgency. */
export function PolicyEditor({ policy, close }: { policy: Policy | null; close: () => void }) {
  const [name, setName] = useState(policy?.name ?? "");
  const [repeat, setRepeat] = useState(String(policy?.definition.repeat ?? 0));
  const [urgency, setUrgency] = useState<string>(policy?.definition.urgency ?? "auto");
  const [steps, setSteps] = useState<Step[]>(
    () =>
      policy?.definition.steps.map(({ targets, delayMinutes }) => ({
        key: key(),
        targets,
        minutes: String(delayMinutes),
      })) ?? [{ key: key(), targets: [], minutes: "5" }],
  );
  const names = useTargetNames();
  const save = useSavePolicy();
  const change = (step: Step, next: Partial<Step>) =>
    setSteps(steps.map((one) => (one.key === step.key ? { ...one, ...next } : one)));
  return (
    <Dialog open wide onOpenChange={(open) => !open && close()} title={policy ? `Edit ${policy.name}` : "New policy"}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          const definition = {
            steps: steps.map(({ targets, minutes }) => ({ targets, delayMinutes: Number(minutes) })),
            repeat: Number(repeat),
            urgency: urgency as Policy["definition"]["urgency"],
          };
          save.mutate({ id: policy?.id, body: { name, definition } }, { onSuccess: close });
        }}
      >
        <Field label="Name" value={name} onText={setName} required maxLength={100} />
        <ol className="space-y-3">
          {steps.map((step, index) => (
            <li key={step.key}>
              <fieldset className="rounded-control border border-line p-3">
                <legend className="px-1 font-medium">Step {index + 1}</legend>
                <ul className="flex flex-wrap gap-1">
                  {step.targets.map((target) => {
                    const label = targetName(names, target);
                    return (
                      <li key={targetValue(target)}>
                        <button
                          type="button"
                          className="btn"
                          aria-label={`Remove ${label} from step ${index + 1}`}
                          onClick={() => change(step, { targets: step.targets.filter((one) => one !== target) })}
                        >
                          <span className="[overflow-wrap:anywhere]">{label}</span> <Trash2 size={13} aria-hidden />
                        </button>
                      </li>
                    );
                  })}
                </ul>
                <div className="mt-2 grid gap-3 sm:grid-cols-2">
                  <SelectField
                    label={`Who is reached in step ${index + 1}`}
                    value=""
                    options={[
                      { value: "", label: "Add somebody…" },
                      ...names.filter((one) => !step.targets.some((target) => targetValue(target) === one.value)),
                    ]}
                    onChange={(value) => value && change(step, { targets: [...step.targets, targetOf(value)] })}
                  />
                  <Field
                    label={`Minutes until step ${index + 2}`}
                    type="number"
                    min={1}
                    max={1440}
                    required
                    value={step.minutes}
                    onText={(minutes) => change(step, { minutes })}
                  />
                </div>
                {steps.length > 1 && (
                  <button
                    type="button"
                    className="btn mt-2"
                    onClick={() => setSteps(steps.filter((one) => one.key !== step.key))}
                  >
                    Remove step {index + 1}
                  </button>
                )}
              </fieldset>
            </li>
          ))}
        </ol>
        {steps.length < 10 && (
          <button
            type="button"
            className="btn"
            onClick={() => setSteps([...steps, { key: key(), targets: [], minutes: "10" }])}
          >
            <Plus size={14} aria-hidden /> Add a step
          </button>
        )}
        <div className="grid gap-3 sm:grid-cols-2">
          <SelectField
            label="Repeat all steps"
            value={repeat}
            options={[0, 1, 2, 3, 4, 5].map((times) => ({
              value: String(times),
              label: times === 0 ? "Never" : `${times} times`,
            }))}
            onChange={setRepeat}
          />
          <SelectField label="Urgency" value={urgency} options={[...URGENCIES]} onChange={setUrgency} />
        </div>
        <Problem of={save} />
        <div className="flex flex-wrap justify-end gap-2">
          <button type="button" className="btn" onClick={close}>
            Cancel
          </button>
          <Submit of={save} busy="Saving…" disabled={steps.some((step) => step.targets.length === 0)}>
            Save
          </Submit>
        </div>
      </form>
    </Dialog>
  );
}
