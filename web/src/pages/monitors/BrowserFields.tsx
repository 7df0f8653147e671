// The fields of a check by a browser: the script, and its variables.
import { Plus, X } from "lucide-react";
import { useRef } from "react";
import type { Draft } from "../../model/monitors";
import { Field } from "../../ui/Field";
import { TextArea } from "../../ui/TextArea";

/** As many as the server takes. */
const VARIABLES_MAX = 50;

export function BrowserFields({
  draft,
  set,
  problem,
}: {
  draft: Draft;
  set: (change: Partial<Draft>) => void;
  /** Reason for which the server makes no such checks. */
  problem?: string | null;
}) {
  const add = useRef<HTMLButtonElement>(null);
  const change = (id: number, part: { name?: string; value?: string }) =>
    set({ env: draft.env.map((one) => (one.id === id ? { ...one, ...part } : one)) });
  const remove = (id: number) => {
    set({ env: draft.env.filter((one) => one.id !== id) });
    add.current?.focus();
  };
  const next = Math.max(0, ...draft.env.map((one) => one.id)) + 1;
  return (
    <>
      {problem && (
        <p className="rounded-control bg-warnsoft px-3 py-2 text-warn">This check would not work: {problem}.</p>
      )}
      <TextArea
        label="Script"
        hint="Playwright: page, context, browser, expect, env and console.log are there. An error makes it down."
        rows={12}
        value={draft.script}
        onText={(script) => set({ script })}
      />
      <fieldset className="space-y-2">
        <legend className="font-semibold">Variables</legend>
        <p className="text-dense text-ink2">
          env.NAME in the script. Values are stored encrypted and not shown again; another script needs them again.
        </p>
        {draft.env.map(({ id, name, value }, index) => (
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
            <button
              type="button"
              className="btn"
              aria-label={`Remove variable ${index + 1}`}
              onClick={() => remove(id)}
            >
              <X size={14} aria-hidden />
            </button>
          </div>
        ))}
        {draft.env.length < VARIABLES_MAX && (
          <button
            ref={add}
            type="button"
            className="btn"
            onClick={() => set({ env: [...draft.env, { id: next, name: "", value: "" }] })}
          >
            <Plus size={14} aria-hidden /> Add variable
          </button>
        )}
      </fieldset>
    </>
  );
}
