import { useQuery } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import {
  type ChainStep,
  type Chains,
  type ContactMethod,
  chainsQuery,
  setChains,
  useContactChange,
} from "../../api/oncall";
import { showToast } from "../../model/toasts";
import { Problem, Submit } from "../../parts/MutationButton";
import { Section } from "../../parts/Page";
import { QueryView, SkeletonRows } from "../../parts/states";
import { SelectField } from "../../ui/SelectField";

/** The chains: which contact method is used after which delay. */
export function ChainEditor({ methods }: { methods: ContactMethod[] }) {
  const query = useQuery(chainsQuery);
  // Not of the form, which is replaced by one with the saved chains before the change is settled.
  const save = useContactChange(setChains);
  if (methods.length === 0) return null;
  return (
    <Section title="When you are paged">
      <QueryView query={query} skeleton={<SkeletonRows rows={2} />}>
        {(chains) => <Form key={JSON.stringify(chains)} chains={chains} methods={methods} save={save} />}
      </QueryView>
    </Section>
  );
}

interface FormProps {
  chains: Chains;
  methods: ContactMethod[];
  save: ReturnType<typeof useContactChange<Chains, unknown>>;
}

function Form({ chains, methods, save }: FormProps) {
  const [high, setHigh] = useState(chains.high);
  const [low, setLow] = useState(chains.low);
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate({ high, low }, { onSuccess: () => showToast("Saved") });
      }}
    >
      <Chain label="high urgency" steps={high} methods={methods} change={setHigh} />
      <Chain label="low urgency" steps={low} methods={methods} change={setLow} />
      <Problem of={save} />
      <Submit of={save} busy="Saving…">
        Save the chains
      </Submit>
    </form>
  );
}

function Chain({
  label,
  steps,
  methods,
  change,
}: {
  label: string;
  steps: ChainStep[];
  methods: ContactMethod[];
  change: (steps: ChainStep[]) => void;
}) {
  const name = (id: number) => methods.find((method) => method.id === id)?.summary ?? "";
  return (
    <fieldset className="space-y-2 rounded-control border border-line p-3">
      <legend className="px-1 font-medium">Pages of {label}</legend>
      {steps.length === 0 && <p className="text-ink2">All contact methods at once.</p>}
      <ol className="space-y-2">
        {steps.map((step, index) => (
          <li key={index} className="flex flex-wrap items-center gap-2">
            <span className="min-w-0 [overflow-wrap:anywhere]">{name(step.contactMethodId)}</span>
            <label className="flex items-center gap-1 text-ink2">
              after
              <input
                type="number"
                min={0}
                max={120}
                required
                className="input w-18!"
                aria-label={`Minutes until ${name(step.contactMethodId)}, ${label}`}
                value={step.delayMinutes}
                onChange={(event) =>
                  change(
                    steps.map((one, at) => (at === index ? { ...one, delayMinutes: Number(event.target.value) } : one)),
                  )
                }
              />
              min
            </label>
            <button
              type="button"
              className="btn btn-ghost btn-icon"
              aria-label={`Remove step ${index + 1} of ${label}`}
              onClick={() => change(steps.filter((_, at) => at !== index))}
            >
              <Trash2 size={14} aria-hidden />
            </button>
          </li>
        ))}
      </ol>
      {steps.length < 10 && (
        <SelectField
          label={`Add a step for ${label}`}
          value=""
          options={[
            { value: "", label: "Choose a contact method…" },
            ...methods.map((method) => ({ value: String(method.id), label: method.summary })),
          ]}
          onChange={(id) => id && change([...steps, { contactMethodId: Number(id), delayMinutes: 0 }])}
        />
      )}
    </fieldset>
  );
}
