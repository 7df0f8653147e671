// The input of a field of a configuration, as the API describes the field.
import { usePolicies } from "../api/oncall";
import { choicesOf, type FormValue } from "../model/config-fields";
import { spell } from "../model/monitors";
import type { ConfigField } from "../model/types";
import { Field, focusHere } from "../ui/Field";
import { SelectField } from "../ui/SelectField";
import { Switch } from "../ui/Switch";
import { TextArea } from "../ui/TextArea";
import { ConfigVariables } from "./ConfigVariables";

/** Rows of inputs with several lines. */
const ROWS: Partial<Record<ConfigField["kind"], number>> = { strings: 3, map: 3, lines: 3, script: 12 };

export function ConfigInput({
  field,
  value,
  focused,
  onChange,
}: {
  field: ConfigField;
  value: FormValue;
  /** It takes the focus when it appears. */
  focused?: boolean;
  onChange: (value: FormValue) => void;
}) {
  const { kind } = field;
  const hint = field.hint ?? undefined;
  const label = field.unit ? `${field.label}, ${field.unit}` : field.label;
  if (typeof value === "boolean") return <Switch label={label} hint={hint} checked={value} onChange={onChange} />;
  if (typeof value !== "string") return <ConfigVariables field={field} variables={value} onChange={onChange} />;
  const rows = ROWS[kind];
  if (rows) return <TextArea label={label} hint={hint} rows={rows} value={value} onText={onChange} />;
  if (kind === "policy") return <PolicyChoice label={label} value={value} onChange={onChange} />;
  if (kind === "choice" || kind === "seconds") {
    const options = kind === "choice" ? choicesOf(field) : durations(field.usual ?? [], value);
    return <SelectField label={label} hint={hint} value={value} options={options} onChange={onChange} />;
  }
  const isNumber = kind === "number" || kind === "integer";
  // A browser cannot point at an input in a folded part.
  const isNeeded = field.required || (isNumber && field.default !== null && field.default !== undefined);
  return (
    <Field
      ref={focused ? focusHere : undefined}
      label={label}
      hint={hint}
      placeholder={field.placeholder ?? undefined}
      required={isNeeded && !field.folded}
      type={isNumber ? "number" : kind === "url" ? "url" : kind === "secret" ? "password" : "text"}
      min={field.minimum ?? undefined}
      max={field.maximum ?? undefined}
      step={kind === "number" ? "any" : undefined}
      maxLength={field.maxLength ?? undefined}
      autoComplete={kind === "secret" ? "new-password" : "off"}
      spellCheck={false}
      value={value}
      onText={onChange}
    />
  );
}

/** Usual durations, with the current one if it is not among them. */
function durations(usual: number[], current: string): { value: string; label: string }[] {
  const all = usual.includes(Number(current)) ? usual : [...usual, Number(current)].sort((a, b) => a - b);
  return all.map((seconds) => ({ value: String(seconds), label: spell(seconds) }));
}

/** One of the escalation policies of the organization. */
function PolicyChoice({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  const { data, isPending } = usePolicies();
  const policies = data?.policies ?? [];
  const isKnown = value === "" || isPending || policies.some((one) => String(one.id) === value);
  return (
    <SelectField
      label={label}
      value={value}
      hint={!isPending && policies.length === 0 ? "Create one at On-call, Policies." : undefined}
      options={[
        { value: "", label: "Choose a policy…" },
        ...policies.map((one) => ({ value: String(one.id), label: one.name })),
        ...(isKnown ? [] : [{ value, label: "A policy that was deleted" }]),
      ]}
      onChange={onChange}
    />
  );
}
