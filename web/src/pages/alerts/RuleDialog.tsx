// Creates or changes a rule: type, configuration, channel; with a preview of the last seven days.
import { useState } from "react";
import { useConfigTypes } from "../../api/config-types";
import { type Rule, type RuleSeverity, useRuleChannels, useSaveRule } from "../../api/rules";
import { type FormValue, fieldAt, fromForm, isShown, newConfig, toForm } from "../../model/config-fields";
import { prefilled } from "../../model/rule-types";
import { showToast } from "../../model/toasts";
import type { ConfigType } from "../../model/types";
import { ConfigInput } from "../../parts/ConfigInput";
import { Problem, Submit } from "../../parts/MutationButton";
import { QueryView } from "../../parts/states";
import { Dialog } from "../../ui/Dialog";
import { SelectField } from "../../ui/SelectField";
import { RulePreview } from "./RulePreview";

interface Props {
  /** The rule that is changed; absent for a new one. */
  rule?: Rule;
  type: string;
  /** JSON of the URL. */
  config?: string;
  name?: string;
  onClose: () => void;
}

export function RuleDialog(props: Props) {
  const { rule, onClose } = props;
  const query = useConfigTypes("rules");
  return (
    <Dialog wide open onOpenChange={(open) => !open && onClose()} title={rule ? `Change ${rule.name}` : "New rule"}>
      <QueryView query={query}>{({ types }) => <Form types={types} {...props} />}</QueryView>
    </Dialog>
  );
}

function Form({ types, rule, type: typeName, config, name, onClose }: Props & { types: ConfigType[] }) {
  const [type, setType] = useState(types.find((one) => one.type === typeName) ?? types[0]);
  const [before, setBefore] = useState(rule?.config ?? prefilled(type, config));
  const [values, setValues] = useState(() => toForm(type.fields, before));
  const [settings, setSettings] = useState(() =>
    toForm(type.settings, rule ? { ...rule } : { ...newConfig(type.settings), name: name ?? type.label }),
  );
  const channels = useRuleChannels().data?.channels ?? [];
  const [channel, setChannel] = useState(rule ? String(rule.channelId) : "");
  const channelId = Number(channel || channels[0]?.id);
  const save = useSaveRule();
  const changeType = (value: string) => {
    const next = types.find((one) => one.type === value) ?? types[0];
    if (settings.name === type.label) setSettings({ ...settings, name: next.label });
    const begun = newConfig(next.fields);
    setType(next);
    setBefore(begun);
    setValues(toForm(next.fields, begun));
  };
  const read = fromForm(type.fields, values, before);
  const chosen = fromForm(type.settings, settings);
  const problem = "error" in read ? read.error : "error" in chosen ? chosen.error : null;
  const send = () => {
    if ("error" in read || "error" in chosen || !channelId) return;
    const shared = chosen.config as { name: string; cooldownMinutes: number; severity: RuleSeverity | "" };
    save.mutate(
      { id: rule?.id, channelId, ...shared, ruleType: type.type, config: read.config },
      {
        onSuccess: () => {
          showToast(`${rule ? "Changed" : "Created"} the rule ${shared.name}`);
          onClose();
        },
      },
    );
  };
  const setting = (key: string) => (
    <ConfigInput
      field={fieldAt(type.settings, key)}
      value={settings[key]}
      onChange={(value: FormValue) => setSettings({ ...settings, [key]: value })}
    />
  );
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <div className="grid gap-4 md:grid-cols-2">
        <SelectField
          label="Type"
          value={type.type}
          options={types.map(({ type, label, group }) => ({ value: type, label: `${group}: ${label}` }))}
          hint={type.about}
          onChange={changeType}
        />
        {setting("name")}
        {type.fields
          .filter((field) => isShown(field, values))
          .map((field) => (
            <ConfigInput
              key={`${type.type} ${field.key}`}
              field={field}
              value={values[field.key]}
              onChange={(value) => setValues({ ...values, [field.key]: value })}
            />
          ))}
      </div>
      {"config" in read && "config" in chosen && (
        <RulePreview
          rule={{
            ruleType: type.type,
            config: read.config,
            cooldownMinutes: chosen.config.cooldownMinutes as number,
          }}
        />
      )}
      <div className="grid gap-4 md:grid-cols-3">
        <SelectField
          label="Channel"
          value={channel || String(channels[0]?.id ?? "")}
          options={channels.map((one) => ({ value: String(one.id), label: one.name }))}
          hint={channels.length ? undefined : "Create a channel first."}
          onChange={setChannel}
        />
        {setting("severity")}
        {setting("cooldownMinutes")}
      </div>
      {problem && (
        <p role="status" className="text-ink2">
          {problem}
        </p>
      )}
      <Problem of={save} />
      <div className="flex flex-wrap justify-end gap-2">
        <button type="button" className="btn" onClick={onClose}>
          Cancel
        </button>
        <Submit of={save} busy="Saving…" disabled={problem !== null || !channelId}>
          {rule ? "Save rule" : "Create rule"}
        </Submit>
      </div>
    </form>
  );
}
