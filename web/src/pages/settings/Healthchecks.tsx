import { useState } from "react";
import type { ProjectExtra } from "../../api/account-types";
import { healthcheckPaths } from "../../model/project-settings";
import { Problem, Submit } from "../../parts/MutationButton";
import { Switch } from "../../ui/Switch";
import { TextArea } from "../../ui/TextArea";
import { useSave } from "./useSave";

export function Healthchecks({ project, readonly }: { project: ProjectExtra; readonly: boolean }) {
  const kept = (project.settings.healthcheckPaths ?? []).join("\n");
  const [text, setText] = useState(kept);
  const { change, save } = useSave();
  const { paths, error } = healthcheckPaths(text);
  return (
    <div className="space-y-5">
      <Switch
        label="Leave out health checks that went well"
        hint="GET and HEAD requests of /health, /ping, /ready and their like, answered below 400, are not stored, nor is what they did; they are counted. One with an exception is kept whole."
        checked={project.settings.dropHealthyHealthchecks ?? false}
        disabled={readonly || change.isPending}
        onChange={(dropHealthyHealthchecks) =>
          save(
            { dropHealthyHealthchecks },
            dropHealthyHealthchecks
              ? "Healthy health checks are left out from now on"
              : "Health checks are kept from now on",
          )
        }
      />
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (!error) save({ healthcheckPaths: paths }, "Paths saved");
        }}
      >
        <TextArea
          label="Paths of your own"
          rows={4}
          value={text}
          disabled={readonly}
          error={error}
          hint="One per line, at most 50. A * at the start or the end stands for anything."
          onText={setText}
        />
        {!readonly && (
          <Submit of={change} className="btn" disabled={!!error || paths.join("\n") === kept}>
            Save paths
          </Submit>
        )}
      </form>
      <Problem of={change} />
    </div>
  );
}
