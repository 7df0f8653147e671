import { useState } from "react";
import type { ProjectExtra } from "../../api/account-types";
import { ratePercent, sampleRate } from "../../model/project-settings";
import { Problem, Submit } from "../../parts/MutationButton";
import { Field } from "../../ui/Field";
import { useSave } from "./useSave";

export function Sampling({ project, readonly }: { project: ProjectExtra; readonly: boolean }) {
  const [normal, setNormal] = useState(() => ratePercent(project.settings.sampleRate));
  const [errors, setErrors] = useState(() => ratePercent(project.settings.errorSampleRate));
  const { change, save } = useSave();
  const wrong = (text: string) => (sampleRate(text) === null ? "A number from 0 to 100." : null);
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        const [normalRate, errorRate] = [sampleRate(normal), sampleRate(errors)];
        if (normalRate !== null && errorRate !== null)
          save({ sampleRate: normalRate, errorSampleRate: errorRate }, "Sampling saved");
      }}
    >
      <p className="text-ink2">
        Decided per trace, alike on every server. Counts and percentiles of sampled data are weighted, so charts stay
        true.
      </p>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Normal traces kept, %"
          inputMode="decimal"
          value={normal}
          disabled={readonly}
          onText={setNormal}
          error={wrong(normal)}
        />
        <Field
          label="Traces with errors kept, %"
          inputMode="decimal"
          value={errors}
          disabled={readonly}
          onText={setErrors}
          error={wrong(errors)}
        />
      </div>
      <Problem of={change} />
      {!readonly && (
        <Submit of={change} className="btn" disabled={sampleRate(normal) === null || sampleRate(errors) === null}>
          Save sampling
        </Submit>
      )}
    </form>
  );
}
