// The form of a monitor: what all types have, and the configuration of its type.
import { useState } from "react";
import { useConfigTypes } from "../../api/config-types";
import { useSaveMonitor } from "../../api/monitors";
import {
  type Config,
  carriedOver,
  type FormValues,
  fieldAt,
  fromForm,
  isShown,
  newConfig,
  toForm,
} from "../../model/config-fields";
import type { Check, CheckRequest, ConfigField, ConfigType } from "../../model/types";
import { ConfigInput } from "../../parts/ConfigInput";
import { Problem, Submit } from "../../parts/MutationButton";
import { QueryView } from "../../parts/states";
import { Dialog } from "../../ui/Dialog";
import { SelectField } from "../../ui/SelectField";

interface Props {
  /** The monitor to change; a new one without it. */
  check?: Check;
  /** Reason for which the server makes no checks by a browser. */
  browserProblem?: string | null;
  onClose: () => void;
  onSaved: (check: Check) => void;
}

export function MonitorForm(props: Props) {
  const query = useConfigTypes("monitors");
  return (
    <Dialog open wide onOpenChange={props.onClose} title={props.check ? `Edit ${props.check.name}` : "New monitor"}>
      <QueryView query={query}>{({ types }) => <Form types={types} {...props} />}</QueryView>
    </Dialog>
  );
}

function Form({ types, check, browserProblem, onClose, onSaved }: Props & { types: ConfigType[] }) {
  const [type, setType] = useState(types.find((one) => one.type === check?.checkType) ?? types[0]);
  const [settings, setSettings] = useState(() =>
    toForm(type.settings, check ? { ...check } : newConfig(type.settings)),
  );
  const [values, setValues] = useState(() =>
    toForm(type.fields, check ? (check.config as Config) : newConfig(type.fields)),
  );
  const [fault, setFault] = useState<string | null>(null);
  const save = useSaveMonitor(check?.id);
  const choose = (name: string) => {
    const next = types.find((one) => one.type === name) ?? type;
    setType(next);
    setSettings({ ...toForm(next.settings, newConfig(next.settings)), name: settings.name });
    setValues(carriedOver(type, values, next));
    setFault(null);
  };
  const submit = () => {
    const chosen = fromForm(type.settings, settings, check && { ...check });
    const read = fromForm(type.fields, values, check?.config as Config | undefined);
    if ("error" in chosen) return setFault(chosen.error);
    if ("error" in read) return setFault(read.error);
    setFault(null);
    const request = { ...chosen.config, checkType: type.type, enabled: check?.enabled ?? true, config: read.config };
    save.mutate(request as CheckRequest, { onSuccess: onSaved });
  };
  const setting = (field: ConfigField, focused = false) => (
    <ConfigInput
      key={field.key}
      field={field}
      focused={focused}
      value={settings[field.key]}
      onChange={(value) => setSettings({ ...settings, [field.key]: value })}
    />
  );
  const schedule = type.settings.filter((field) => field.key !== "name" && !field.hidden);
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        {setting(fieldAt(type.settings, "name"), true)}
        <SelectField
          label="Type"
          value={type.type}
          disabled={!!check}
          hint={type.about}
          options={types.map(({ type, label }) => ({ value: type, label }))}
          onChange={choose}
        />
      </div>
      {type.type === "browser" && browserProblem && (
        <p className="rounded-control bg-warnsoft px-3 py-2 text-warn">This check would not work: {browserProblem}.</p>
      )}
      {sections(type.fields).map((fields) => (
        <Part
          key={`${type.type} ${fields[0].section ?? ""}`}
          fields={fields}
          values={values}
          onChange={(change) => setValues({ ...values, ...change })}
        />
      ))}
      <fieldset className="grid gap-4 sm:grid-cols-3">
        <legend className="sr-only">Schedule</legend>
        {schedule.map((field) => setting(field))}
      </fieldset>
      {fault && (
        <p role="alert" className="rounded-control bg-errorsoft px-3 py-2 text-error">
          {fault}
        </p>
      )}
      <Problem of={save} />
      <div className="flex justify-end gap-2">
        <button type="button" className="btn" onClick={onClose}>
          Cancel
        </button>
        <Submit of={save} busy="Saving…">
          {check ? "Save" : "Create monitor"}
        </Submit>
      </div>
    </form>
  );
}

/** Consecutive fields of the same section. */
function sections(fields: ConfigField[]): ConfigField[][] {
  const all: ConfigField[][] = [];
  for (const field of fields) {
    const last = all.at(-1);
    if (last && last[0].section === field.section) last.push(field);
    else all.push([field]);
  }
  return all;
}

/** Kinds of fields that take the whole width. */
const WIDE: ConfigField["kind"][] = ["boolean", "lines", "map", "script", "variables"];

function Part({
  fields,
  values,
  onChange,
}: {
  fields: ConfigField[];
  values: FormValues;
  onChange: (change: FormValues) => void;
}) {
  const { section, folded } = fields[0];
  const inputs = fields
    .filter((field) => isShown(field, values))
    .map((field) => (
      <div key={field.key} className={WIDE.includes(field.kind) ? "sm:col-span-2" : undefined}>
        <ConfigInput field={field} value={values[field.key]} onChange={(value) => onChange({ [field.key]: value })} />
      </div>
    ));
  const grid = "grid gap-4 sm:grid-cols-2";
  if (!section) return <div className={grid}>{inputs}</div>;
  if (folded)
    return (
      <details>
        <summary className="cursor-pointer font-semibold">{section}</summary>
        <div className={`mt-3 ${grid}`}>{inputs}</div>
      </details>
    );
  return (
    <fieldset className={grid}>
      <legend className="mb-2 font-semibold">{section}</legend>
      {inputs}
    </fieldset>
  );
}
