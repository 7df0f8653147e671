import { useState } from "react";
import type { ProjectExtra } from "../../api/account-types";
import { RETENTION_DAYS_MAX, retentionDays, retentionText } from "../../model/project-settings";
import { Problem, Submit } from "../../parts/MutationButton";
import { Field } from "../../ui/Field";
import { useSave } from "./useSave";

export function Retention({ project, readonly }: { project: ProjectExtra; readonly: boolean }) {
  const kept = project.settings.retentionDays;
  const [text, setText] = useState(() => retentionText(kept));
  const { change, save } = useSave();
  const days = retentionDays(text);
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (days !== null)
          save({ retentionDays: days }, days ? `Kept for ${days} days from now on` : "Kept as long as the server says");
      }}
    >
      <p className="text-ink2">
        Traces, logs, metrics and issues of older days are hidden at once and deleted for good within minutes. More days
        bring nothing back.
      </p>
      <div className="grid gap-4 sm:grid-cols-3">
        <Field
          label="Days"
          inputMode="numeric"
          placeholder="server's default"
          value={text}
          disabled={readonly}
          error={days === null ? `Whole days, 1 to ${RETENTION_DAYS_MAX}; empty: as the server has it.` : null}
          onText={setText}
        />
      </div>
      <Problem of={change} />
      {!readonly && (
        <Submit of={change} className="btn" disabled={days === null || days === (kept ?? 0)}>
          Save retention
        </Submit>
      )}
    </form>
  );
}
