// Variables of a script: a row for each.
import { Plus, X } from "lucide-react";
import { useRef } from "react";
import type { Variable } from "../model/config-fields";
import type { ConfigField } from "../model/types";
import { Field } from "../ui/Field";

export function ConfigVariables({
  field,
  variables,
  onChange,
}: {
  field: ConfigField;
  variables: Variable[];
  onChange: (variables: Variable[]) => void;
}) {
  const add = useRef<HTMLButtonElement>(null);
  const change = (id: number, part: Partial<Variable>) =>
    onChange(variables.map((one) => (one.id === id ? { ...one, ...part } : one)));
  const remove = (id: number) => {
    onChange(variables.filter((one) => one.id !== id));
    add.current?.focus();
  };
  const next = Math.max(0, ...variables.map((one) => one.id)) + 1;
  return (
    <fieldset className="space-y-2">
      <legend className="font-semibold">{field.label}</legend>
      {field.hint && <p className="text-dense text-ink2">{field.hint}</p>}
      {variables.map(({ id, name, value }, index) => (
        <div key={id} className="grid grid-cols-[1fr_1fr_auto] items-end gap-2">
          <Field
            label={`Name ${index + 1}`}
            value={name}
            required
            spellCheck={false}
            autoComplete="off"
            onText={(name) => change(id, { name })}
          />
          <Field
            label={`Value ${index + 1}`}
            type="password"
            autoComplete="new-password"
            value={value}
            onText={(value) => change(id, { value })}
          />
          <button type="button" className="btn" aria-label={`Remove variable ${index + 1}`} onClick={() => remove(id)}>
            <X size={14} aria-hidden />
          </button>
        </div>
      ))}
      {(!field.maxItems || variables.length < field.maxItems) && (
        <button
          ref={add}
          type="button"
          className="btn"
          onClick={() => onChange([...variables, { id: next, name: "", value: "" }])}
        >
          <Plus size={14} aria-hidden /> Add variable
        </button>
      )}
    </fieldset>
  );
}
