import { useState } from "react";
import { useTryTrace } from "../../api/symbols";
import { rawForm } from "../../model/raw-stack";
import { LANGUAGES, resolvedWords } from "../../model/symbols";
import type { ResolvedTrace } from "../../model/types";
import { MissingList } from "../../parts/MissingSymbols";
import { Problem, Submit } from "../../parts/MutationButton";
import { Section } from "../../parts/Page";
import { CopyButton } from "../../ui/Copy";
import { Field } from "../../ui/Field";
import { SelectField } from "../../ui/SelectField";
import { TextArea } from "../../ui/TextArea";

/** Resolves a pasted trace, to test an upload before a crash. */
export function TryTrace() {
  const [text, setText] = useState("");
  const [language, setLanguage] = useState("");
  const [debugId, setDebugId] = useState("");
  const [version, setVersion] = useState("");
  const tried = useTryTrace();
  const id = debugId.trim();
  const wrongId = id !== "" && !/^[0-9a-f-]+$/i.test(id);
  return (
    <Section title="Try a stack trace">
      <form
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          const build = { debugId: id || null, version: version.trim() || null };
          if (!wrongId) tried.mutate({ stackTrace: text, language: language || null, ...build });
        }}
      >
        <TextArea
          label="Raw stack trace"
          rows={7}
          value={text}
          hint="Resolved with what is uploaded, as an arriving one would be. Nothing is stored."
          onText={setText}
        />
        <div className="grid gap-4 sm:max-w-2xl sm:grid-cols-2">
          <SelectField label="Language" value={language} options={LANGUAGES} onChange={setLanguage} />
          <Field
            label="Debug id"
            value={debugId}
            onText={setDebugId}
            placeholder="only if the trace does not say it"
            error={wrongId ? "Hexadecimal digits and hyphens." : null}
            hint="Of Android builds: app.debug.proguard_uuid."
            autoComplete="off"
            spellCheck={false}
          />
          <Field
            label="Version"
            value={version}
            onText={setVersion}
            placeholder="of the app"
            hint="Files of another version do not apply. Without one, the newest apply."
            autoComplete="off"
            spellCheck={false}
          />
        </div>
        <Problem of={tried} />
        <Submit of={tried} className="btn btn-primary" busy="Resolving…" disabled={!text.trim() || wrongId}>
          Resolve
        </Submit>
      </form>
      {tried.data && tried.variables?.stackTrace !== undefined && (
        <Result raw={tried.variables.stackTrace} answer={tried.data} />
      )}
    </Section>
  );
}

function Result({ raw, answer }: { raw: string; answer: ResolvedTrace }) {
  return (
    <section aria-label="Result" className="mt-4 space-y-3 border-line border-t pt-3">
      <p role="status" className="font-medium">
        {resolvedWords(answer)}
      </p>
      {answer.frames > 0 && (
        <div className="grid gap-3 lg:grid-cols-2">
          <Side title="Resolved" text={answer.stackTrace} />
          <Side title="Raw" text={raw} />
        </div>
      )}
      {answer.missing.length > 0 && (
        <div className="space-y-2">
          <h3 className="font-medium">Missing for the rest</h3>
          <MissingList missing={answer.missing} text={raw} form={rawForm(raw)?.form} />
        </div>
      )}
    </section>
  );
}

function Side({ title, text }: { title: string; text: string }) {
  return (
    <div className="min-w-0">
      <div className="mb-1 flex items-center justify-between">
        <h3 className="font-medium">{title}</h3>
        <CopyButton text={text} label={`Copy: ${title.toLowerCase()} stack trace`} />
      </div>
      <pre
        className="max-h-96 overflow-auto rounded-control border border-line bg-panel p-2.5 font-mono text-dense"
        tabIndex={0}
      >
        {text}
      </pre>
    </div>
  );
}
