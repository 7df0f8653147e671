// Grouping rules: a query and the fingerprint of the exceptions that meet it. The first match wins.
import { ArrowDown, ArrowUp, Trash2 } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useApplyRules, useDeleteRule, useOrderRules, usePreviewRule, useSaveRule } from "../../api/grouping-rules";
import { useGet } from "../../api/hooks";
import { moved, previewWords } from "../../model/grouping-rules";
import { showToast } from "../../model/toasts";
import type { GroupingRule } from "../../model/types";
import { Problem, Submit } from "../../parts/MutationButton";
import { QueryView, SkeletonRows } from "../../parts/states";
import { Field } from "../../ui/Field";

export function GroupingRules({ readonly }: { readonly: boolean }) {
  const query = useGet("/api/grouping-rules");
  return (
    <div className="space-y-4">
      <p className="text-ink2">
        Exceptions that meet the query of a rule are one issue if its template gives them the same text. The first rule
        that matches wins. A rule groups what arrives after it is saved.
      </p>
      <QueryView query={query} skeleton={<SkeletonRows rows={2} />}>
        {({ data, max }) => (
          <>
            {data.length > 0 && <List rules={data} readonly={readonly} />}
            {!readonly && data.length < max && <NewRule />}
          </>
        )}
      </QueryView>
    </div>
  );
}

function List({ rules, readonly }: { rules: GroupingRule[]; readonly: boolean }) {
  const order = useOrderRules();
  const remove = useDeleteRule();
  const apply = useApplyRules();
  const ids = rules.map((rule) => rule.id);
  return (
    <>
      <ol className="space-y-2" aria-label="Grouping rules">
        {rules.map((rule) => (
          <li key={rule.id} className="panel flex flex-wrap items-center justify-between gap-2 p-2">
            <span className="min-w-0 font-mono text-dense [overflow-wrap:anywhere]">
              {rule.query || "every exception"} → {rule.template}
            </span>
            {!readonly && (
              <span className="flex">
                <button
                  type="button"
                  className="btn btn-ghost btn-icon"
                  aria-label={`Move rule ${rule.id} up`}
                  disabled={order.isPending || rule.id === ids[0]}
                  onClick={() => order.mutate(moved(ids, rule.id, -1))}
                >
                  <ArrowUp size={13} aria-hidden />
                </button>
                <button
                  type="button"
                  className="btn btn-ghost btn-icon"
                  aria-label={`Move rule ${rule.id} down`}
                  disabled={order.isPending || rule.id === ids[ids.length - 1]}
                  onClick={() => order.mutate(moved(ids, rule.id, 1))}
                >
                  <ArrowDown size={13} aria-hidden />
                </button>
                <button
                  type="button"
                  className="btn btn-ghost btn-icon"
                  aria-label={`Delete rule ${rule.id}`}
                  disabled={remove.isPending}
                  onClick={() => remove.mutate(rule.id)}
                >
                  <Trash2 size={13} aria-hidden />
                </button>
              </span>
            )}
          </li>
        ))}
      </ol>
      {!readonly && (
        <button
          type="button"
          className="btn"
          disabled={apply.isPending}
          onClick={() => apply.mutate(undefined, { onSuccess: () => showToast("Stored exceptions are grouped again") })}
        >
          Apply to stored exceptions
        </button>
      )}
      <Problem of={order} />
      <Problem of={remove} />
      <Problem of={apply} />
    </>
  );
}

function NewRule() {
  const [text, setText] = useState({ query: "", template: "" });
  const preview = usePreviewRule();
  const save = useSaveRule();
  const change = (part: Partial<typeof text>) => {
    setText({ ...text, ...part });
    preview.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate(text, {
      onSuccess: () => {
        change({ query: "", template: "" });
        showToast("Rule saved");
      },
    });
  };
  const found = preview.data;
  return (
    <form className="space-y-3" onSubmit={submit} aria-label="New grouping rule">
      <Field label="Query" value={text.query} hint="type:Timeout* service:shop" onText={(query) => change({ query })} />
      <Field
        label="Template"
        value={text.template}
        hint="Text with {{default}}, {{type}}, {{message}}, {{function}}, {{module}}, {{service.name}} or any attribute"
        onText={(template) => change({ template })}
      />
      <output className="block" aria-label="Preview">
        {found && previewWords(found)} {found?.warning && <strong>Warning: {found.warning}.</strong>}
      </output>
      <span className="flex gap-2">
        <button
          type="button"
          className="btn"
          disabled={!text.template.trim() || preview.isPending}
          onClick={() => preview.mutate(text)}
        >
          Preview
        </button>
        <Submit of={save} className="btn btn-primary" disabled={!found}>
          Save rule
        </Submit>
      </span>
      <Problem of={preview} />
      <Problem of={save} />
    </form>
  );
}
