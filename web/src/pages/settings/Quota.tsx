import { useState } from "react";
import type { ProjectExtra } from "../../api/account-types";
import { limitText, megabytesText, origins, quotaLimit, quotaMegabytes } from "../../model/project-settings";
import { Problem, Submit } from "../../parts/MutationButton";
import { Field } from "../../ui/Field";
import { TextArea } from "../../ui/TextArea";
import { useSave } from "./useSave";

const WHOLE = "A whole number; empty: as the server has it.";

export function Quota({ project, readonly }: { project: ProjectExtra; readonly: boolean }) {
  const kept = project.settings;
  const [megabytes, setMegabytes] = useState(() => megabytesText(kept.dailyBytesMax));
  const [records, setRecords] = useState(() => limitText(kept.dailyRecordsMax));
  const [rate, setRate] = useState(() => limitText(kept.recordsPerSecondMax));
  const { change, save } = useSave();
  const wanted = { bytes: quotaMegabytes(megabytes), records: quotaLimit(records), rate: quotaLimit(rate) };
  const { bytes: dailyBytesMax, records: dailyRecordsMax, rate: recordsPerSecondMax } = wanted;
  const unreadable = dailyBytesMax === null || dailyRecordsMax === null || recordsPerSecondMax === null;
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (!unreadable) save({ dailyBytesMax, dailyRecordsMax, recordsPerSecondMax }, "Limits saved");
      }}
    >
      <p className="text-ink2">
        What is sent beyond is refused with 429 and counted; exporters try again. A day ends at midnight UTC.
      </p>
      <div className="grid gap-4 sm:grid-cols-3">
        <Field
          label="Megabytes a day"
          inputMode="decimal"
          placeholder="server's default"
          value={megabytes}
          disabled={readonly}
          error={dailyBytesMax === null ? "A number of megabytes; empty: as the server has it." : null}
          onText={setMegabytes}
        />
        <Field
          label="Records a day"
          inputMode="numeric"
          placeholder="server's default"
          value={records}
          disabled={readonly}
          error={dailyRecordsMax === null ? WHOLE : null}
          onText={setRecords}
        />
        <Field
          label="Records a second"
          inputMode="numeric"
          placeholder="server's default"
          value={rate}
          disabled={readonly}
          error={recordsPerSecondMax === null ? WHOLE : null}
          onText={setRate}
        />
      </div>
      <Problem of={change} />
      {!readonly && (
        <Submit of={change} className="btn" disabled={unreadable}>
          Save limits
        </Submit>
      )}
    </form>
  );
}

export function Origins({ project, readonly }: { project: ProjectExtra; readonly: boolean }) {
  const kept = (project.settings.allowedOrigins ?? []).join("\n");
  const [text, setText] = useState(kept);
  const { change, save } = useSave();
  const { list, error } = origins(text);
  return (
    <form
      className="mt-5 space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (!error) save({ allowedOrigins: list }, list.length ? "Only these pages may send" : "All pages may send");
      }}
    >
      <TextArea
        label="Web pages that may send with the project's token"
        rows={3}
        value={text}
        disabled={readonly}
        error={error}
        hint="One origin per line, such as https://shop.example or https://*.shop.example. Empty: all pages. Servers and apps are not asked."
        onText={setText}
      />
      <Problem of={change} />
      {!readonly && (
        <Submit of={change} className="btn" disabled={!!error || list.join("\n") === kept}>
          Save pages
        </Submit>
      )}
    </form>
  );
}
