import { useState } from "react";
import type { ProjectExtra } from "../../api/account-types";
import { RETENTION_DAYS_MAX, retentionDays, retentionText } from "../../model/project-settings";
import { Problem, Submit } from "../../parts/Act";
import { Field } from "../../ui/Field";
import { useSave } from "./useSave";

const ALL = [{ key: "all", label: "Everything, days" }] as const;
const KINDS = [
  { key: "spans", label: "Traces, days" },
  { key: "logs", label: "Logs, days" },
  { key: "metrics", label: "Metrics, days" },
] as const;

/** One number for everything, or one per kind of record: as the server has it. */
export function Retention({ project, readonly }: { project: ProjectExtra; readonly: boolean }) {
  const kept = project.settings.retentionDays ?? {};
  const alike = typeof kept === "number";
  const [texts, setTexts] = useState<Record<string, string>>(() =>
    alike ? { all: retentionText(kept) } : Object.fromEntries(KINDS.map(({ key }) => [key, retentionText(kept[key])])),
  );
  const { change, save } = useSave();
  const fields = alike ? ALL : KINDS;
  const days = Object.fromEntries(fields.map(({ key }) => [key, retentionDays(texts[key])]));
  const wrong = Object.values(days).includes(null);
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (!wrong) save({ retentionDays: alike ? days.all : days }, "Saved");
      }}
    >
      <p className="text-ink2">Older data is deleted for good. Empty: as long as the server keeps everything else.</p>
      <div className="grid gap-4 sm:grid-cols-3">
        {fields.map(({ key, label }) => (
          <Field
            key={key}
            label={label}
            inputMode="numeric"
            placeholder="server's default"
            value={texts[key]}
            disabled={readonly}
            error={days[key] === null ? `Whole days, 1 to ${RETENTION_DAYS_MAX}.` : null}
            onText={(text) => setTexts((old) => ({ ...old, [key]: text }))}
          />
        ))}
      </div>
      <Problem of={change} />
      {!readonly && (
        <Submit of={change} className="btn" disabled={wrong}>
          Save retention
        </Submit>
      )}
    </form>
  );
}
