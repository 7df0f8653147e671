import { useState } from "react";
import type { ProjectExtra } from "../../api/account-types";
import { FRAMEWORKS } from "../../parts/frameworks";
import { Problem, Submit } from "../../parts/MutationButton";
import { Field } from "../../ui/Field";
import { SelectField } from "../../ui/SelectField";
import { useSave } from "./useSave";

export function General({ project, readonly }: { project: ProjectExtra; readonly: boolean }) {
  const [name, setName] = useState(project.name);
  const [framework, setFramework] = useState(project.framework);
  const { change, save } = useSave();
  const same = name.trim() === project.name && framework === project.framework;
  const options = FRAMEWORKS.some((one) => one.value === framework)
    ? FRAMEWORKS
    : [...FRAMEWORKS, { value: framework, label: framework }];
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        save({ name: name.trim(), framework }, "Saved");
      }}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Name"
          value={name}
          onText={setName}
          maxLength={100}
          required
          disabled={readonly}
          hint="Letters, digits, spaces, - _ ."
        />
        <SelectField
          label="What sends the data"
          value={framework}
          options={options}
          disabled={readonly}
          onChange={setFramework}
        />
      </div>
      <Problem of={change} />
      {!readonly && (
        <Submit of={change} className="btn" disabled={same || !name.trim()}>
          Save
        </Submit>
      )}
    </form>
  );
}
