// Links from stack traces to the code host.
import { useState } from "react";
import type { ProjectExtra } from "../../api/account-types";
import { Problem, Submit } from "../../parts/MutationButton";
import { Field } from "../../ui/Field";
import { useSave } from "./useSave";

const EXAMPLE = "https://github.com/acme/shop/blob/{commit}/{path}#L{line}";

export function CodeHost({ project, readonly }: { project: ProjectExtra; readonly: boolean }) {
  const { sourceUrl = "", sourceRoot = "" } = project.settings;
  const [url, setUrl] = useState(sourceUrl);
  const [root, setRoot] = useState(sourceRoot);
  const { change, save } = useSave();
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        save({ sourceUrl: url.trim(), sourceRoot: root.trim() }, "Saved");
      }}
    >
      <p className="text-ink2">
        Frames of your code in stack traces link to this address. The commit is the attribute vcs.ref.head.revision, or
        that of a reported deploy of the version.
      </p>
      <Field
        label="Address of a line"
        hint="With {path}, and {commit} and {line} where your code host needs them. Empty: no links."
        placeholder={EXAMPLE}
        value={url}
        disabled={readonly}
        spellCheck={false}
        onText={setUrl}
      />
      <Field
        label="Folder of the code"
        hint="Cut from the start of paths, such as /srv/shop. Files in other folders get no link."
        value={root}
        disabled={readonly}
        spellCheck={false}
        onText={setRoot}
      />
      <Problem of={change} />
      {!readonly && (
        <Submit of={change} className="btn" disabled={url.trim() === sourceUrl && root.trim() === sourceRoot}>
          Save links
        </Submit>
      )}
    </form>
  );
}
