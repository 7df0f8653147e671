import { useState } from "react";
import { useChangeProject, useProject } from "../../api/account";
import type { Project, ProjectChange } from "../../api/types";
import { PageHead, Section } from "../../parts/Page";
import { Token } from "../../parts/Token";
import { Field } from "../../ui/Field";
import { Switch } from "../../ui/Switch";
import { say } from "../../ui/Toasts";

export function SettingsPage() {
  const project = useProject();
  if (!project) return null;
  return <Body key={project.id} project={project} />;
}

function Body({ project }: { project: Project }) {
  const change = useChangeProject();
  const readonly = project.role === "readonly";
  const save = (what: ProjectChange, words: string) =>
    change.mutate(what, { onSuccess: () => say(words), onError: (error) => say(`Not saved: ${error.message}`) });
  return (
    <>
      <PageHead title="Settings" sub={`Project ${project.name}`} />
      <div className="max-w-3xl space-y-4 px-4 pb-8">
        <Section title="General">
          <Name
            project={project}
            disabled={readonly || change.isPending}
            onSave={(name) => save({ name }, "Name saved")}
          />
        </Section>
        <Section title="Tokens">
          <div className="space-y-4">
            <Token
              label="Project token"
              token={project.token}
              hint="Sent by your applications as Authorization: Bearer <token>. Anyone who has it can send data here."
            />
            {project.sourceMapToken && (
              <Token label="Upload token" token={project.sourceMapToken} hint="For source maps and debug symbols." />
            )}
          </div>
        </Section>
        <Section title="What is stored">
          <div className="space-y-5">
            <Switch
              label="Keep unmatched root spans"
              hint="Root spans that are no request, task or AI call are dropped and counted. Turn on to keep them as plain spans."
              checked={project.settings.keepUnmatchedRoots}
              disabled={readonly || change.isPending}
              onChange={(keepUnmatchedRoots) =>
                save(
                  { keepUnmatchedRoots },
                  keepUnmatchedRoots
                    ? "Unmatched roots are kept from now on"
                    : "Unmatched roots are dropped from now on",
                )
              }
            />
            <Switch
              label="Issues from logs"
              hint="Log records with exception attributes become issues too; the same exception on a span counts once."
              checked={project.settings.issuesFromLogs}
              disabled={readonly || change.isPending}
              onChange={(issuesFromLogs) => save({ issuesFromLogs }, "Saved")}
            />
          </div>
        </Section>
        <Section title="Sampling">
          <Sampling
            project={project}
            disabled={readonly || change.isPending}
            onSave={(rates) => save(rates, "Sampling saved")}
          />
        </Section>
      </div>
    </>
  );
}

function Name({ project, disabled, onSave }: { project: Project; disabled: boolean; onSave: (name: string) => void }) {
  const [name, setName] = useState(project.name);
  return (
    <form
      className="flex items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onSave(name.trim());
      }}
    >
      <div className="flex-1">
        <Field label="Name" value={name} onText={setName} maxLength={100} required />
      </div>
      <button type="submit" className="btn" disabled={disabled || !name.trim() || name.trim() === project.name}>
        Save
      </button>
    </form>
  );
}

function Sampling({
  project,
  disabled,
  onSave,
}: {
  project: Project;
  disabled: boolean;
  onSave: (rates: ProjectChange) => void;
}) {
  const [normal, setNormal] = useState(String(project.settings.sampleRate * 100));
  const [errors, setErrors] = useState(String(project.settings.errorSampleRate * 100));
  const rate = (text: string) =>
    text.trim() !== "" && Number(text) >= 0 && Number(text) <= 100 ? Number(text) / 100 : null;
  const wrong = (text: string) => (rate(text) === null ? "A number from 0 to 100." : null);
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        const [sampleRate, errorSampleRate] = [rate(normal), rate(errors)];
        if (sampleRate !== null && errorSampleRate !== null) onSave({ sampleRate, errorSampleRate });
      }}
    >
      <p className="text-ink2">
        Decided per trace, alike on every server. Counts and percentiles of sampled data are weighted, so charts stay
        true.
      </p>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Normal traces kept, %"
          inputMode="decimal"
          value={normal}
          onText={setNormal}
          error={wrong(normal)}
        />
        <Field
          label="Traces with errors kept, %"
          inputMode="decimal"
          value={errors}
          onText={setErrors}
          error={wrong(errors)}
        />
      </div>
      <button type="submit" className="btn" disabled={disabled || rate(normal) === null || rate(errors) === null}>
        Save sampling
      </button>
    </form>
  );
}
