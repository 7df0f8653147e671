// Selects the scope and the project of a token, a device or an application.
import { useBundle } from "../api/account";
import type { Allowance } from "../api/account-grants";
import { contained, type Scope, scopeOptions } from "../model/scopes";
import { SelectField } from "../ui/SelectField";

export interface Choice {
  scope: Scope;
  /** "" means all projects, including future ones. */
  project: string;
}

/** Converts a choice to the request body. */
export function allowance({ scope, project }: Choice): Allowance {
  return { scope: contained(scope).join(" "), project_ids: project ? [project] : undefined };
}

/** `most` is the highest selectable scope. */
export function ScopeChoice({
  most,
  choice,
  onChange,
  big,
}: {
  most: Scope;
  choice: Choice;
  onChange: (choice: Choice) => void;
  big?: boolean;
}) {
  const projects = useBundle()?.projects ?? [];
  const options = [
    { value: "", label: "All projects" },
    ...projects.map((one) => ({ value: one.id, label: one.name })),
  ];
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <SelectField
        big={big}
        label="May"
        value={choice.scope}
        options={scopeOptions(most)}
        onChange={(scope) => onChange({ ...choice, scope: scope as Scope })}
      />
      <SelectField
        big={big}
        label="In"
        value={choice.project}
        options={options}
        onChange={(project) => onChange({ ...choice, project })}
      />
    </div>
  );
}

/** Names of the projects, or "All projects". */
export function ProjectNames({ ids }: { ids: readonly string[] | null | undefined }) {
  const projects = useBundle()?.projects ?? [];
  if (!ids) return <>All projects</>;
  return <>{ids.map((id) => projects.find((one) => one.id === id)?.name ?? "a project that is gone").join(", ")}</>;
}
