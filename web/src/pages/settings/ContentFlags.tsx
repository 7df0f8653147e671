// Content flags of AI calls: languages of the word lists, and terms of the project.
import { useState } from "react";
import type { ProjectExtra } from "../../api/account-types";
import { flaggedTerms, LANGUAGES } from "../../model/project-settings";
import { Problem, Submit } from "../../parts/MutationButton";
import { TextArea } from "../../ui/TextArea";
import { useSave } from "./useSave";

export function ContentFlags({ project, readonly }: { project: ProjectExtra; readonly: boolean }) {
  const languages = project.settings.aiFlaggedLanguages ?? [];
  const kept = (project.settings.aiFlaggedTerms ?? []).join("\n");
  const [text, setText] = useState(kept);
  const { change, save } = useSave();
  const { terms, error } = flaggedTerms(text);
  const toggle = (code: string) => {
    const next = languages.includes(code) ? languages.filter((one) => one !== code) : [...languages, code];
    save({ aiFlaggedLanguages: next }, "Languages saved");
  };
  return (
    <div className="space-y-5">
      <p className="text-ink2">
        Conversations of AI calls are searched for these words as they arrive, from now on. A call with any of them is
        flagged, and lists can be filtered by it.
      </p>
      <fieldset className="space-y-1">
        <legend className="mb-1 font-medium">Word lists</legend>
        <div className="flex flex-wrap gap-x-5 gap-y-2">
          {LANGUAGES.map(({ code, label }) => (
            <label key={code} className="flex min-h-6 items-center gap-2">
              <input
                type="checkbox"
                className="size-4 accent-(--accent)"
                checked={languages.includes(code)}
                disabled={readonly || change.isPending}
                onChange={() => toggle(code)}
              />
              {label}
            </label>
          ))}
        </div>
        <p className="text-dense text-ink2">Insults, self-harm, violence and credentials.</p>
      </fieldset>
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (!error) save({ aiFlaggedTerms: terms }, "Terms saved");
        }}
      >
        <TextArea
          label="Terms of your own"
          rows={4}
          value={text}
          disabled={readonly}
          error={error}
          hint="One per line, at most 200, each of one to eight whole words. Case and punctuation do not matter."
          onText={setText}
        />
        {!readonly && (
          <Submit of={change} className="btn" disabled={!!error || terms.join("\n") === kept}>
            Save terms
          </Submit>
        )}
      </form>
      <Problem of={change} />
    </div>
  );
}
