// Creates or changes a rule: type, configuration, channel; with a preview of the last seven days.
import { useState } from "react";
import { type Rule, type RuleSeverity, useRuleChannels, useSaveRule } from "../../api/rules";
import {
  fieldText,
  prefilled,
  RULE_TYPES,
  type RuleConfig,
  type RuleField,
  ruleProblem,
  ruleType,
  ruleTypeLabel,
  withField,
} from "../../model/rule-types";
import { showToast } from "../../model/toasts";
import { Problem, Submit } from "../../parts/MutationButton";
import { Dialog } from "../../ui/Dialog";
import { Field } from "../../ui/Field";
import { SelectField } from "../../ui/SelectField";
import { TextArea } from "../../ui/TextArea";
import { RulePreview } from "./RulePreview";

const FALLBACK = RULE_TYPES[0];

export function RuleDialog({
  rule,
  type: initialType,
  config: initialConfig,
  name: initialName,
  onClose,
}: {
  /** The rule that is changed; absent for a new one. */
  rule?: Rule;
  type: string;
  /** JSON of the URL. */
  config?: string;
  name?: string;
  onClose: () => void;
}) {
  const [typeName, setTypeName] = useState(ruleType(initialType)?.value ?? FALLBACK.value);
  const type = ruleType(typeName) ?? FALLBACK;
  const [config, setConfig] = useState<RuleConfig>(rule?.config ?? prefilled(type, initialConfig));
  const [name, setName] = useState(rule?.name ?? initialName ?? ruleTypeLabel(typeName));
  const [cooldown, setCooldown] = useState(String(rule?.cooldownMinutes ?? 15));
  const [severity, setSeverity] = useState<RuleSeverity | "">(rule?.severity ?? "");
  const channels = useRuleChannels().data?.channels ?? [];
  const [channel, setChannel] = useState(rule ? String(rule.channelId) : "");
  const channelId = Number(channel || channels[0]?.id);
  const save = useSaveRule();
  const cooldownMinutes = Number(cooldown);
  const hasCooldown = cooldown.trim() !== "" && Number.isInteger(cooldownMinutes) && cooldownMinutes >= 0;
  const problem = ruleProblem(type, config) ?? (hasCooldown ? null : "Minutes between notifications is a number");
  const changeType = (value: string) => {
    const next = ruleType(value) ?? FALLBACK;
    if (name === ruleTypeLabel(typeName)) setName(next.label);
    setTypeName(next.value);
    setConfig(next.defaults);
  };
  const send = () =>
    save.mutate(
      { id: rule?.id, channelId, name, ruleType: type.value, config, cooldownMinutes, severity },
      {
        onSuccess: () => {
          showToast(`${rule ? "Changed" : "Created"} the rule ${name}`);
          onClose();
        },
      },
    );
  return (
    <Dialog wide open onOpenChange={(open) => !open && onClose()} title={rule ? `Change ${rule.name}` : "New rule"}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (!problem && channelId) send();
        }}
      >
        <div className="grid gap-4 md:grid-cols-2">
          <SelectField label="Type" value={typeName} options={TYPE_OPTIONS} hint={type.about} onChange={changeType} />
          <Field label="Name" value={name} maxLength={100} required onText={setName} />
          {type.fields
            .filter((field) => !field.shown || field.shown(config))
            .map((field) => (
              <ConfigField
                key={`${typeName} ${field.key}`}
                field={field}
                text={fieldText(config, field)}
                onText={(typed) => setConfig(withField(config, field, typed))}
              />
            ))}
        </div>
        {!problem && <RulePreview rule={{ ruleType: type.value, config, cooldownMinutes }} />}
        <div className="grid gap-4 md:grid-cols-3">
          <SelectField
            label="Channel"
            value={channel || String(channels[0]?.id ?? "")}
            options={channels.map((one) => ({ value: String(one.id), label: one.name }))}
            hint={channels.length ? undefined : "Create a channel first."}
            onChange={setChannel}
          />
          <SelectField
            label="Severity"
            value={severity}
            options={SEVERITIES}
            onChange={(value) => setSeverity(value as RuleSeverity | "")}
          />
          <Field
            label="Minutes between notifications"
            type="number"
            min={0}
            value={cooldown}
            hint="About one subject."
            onText={setCooldown}
          />
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
          <Submit of={save} busy="Saving…" disabled={problem !== null || !channelId || name.trim() === ""}>
            {rule ? "Save rule" : "Create rule"}
          </Submit>
        </div>
      </form>
    </Dialog>
  );
}

const TYPE_OPTIONS = RULE_TYPES.map(({ value, label, group }) => ({ value, label: `${group}: ${label}` }));
const SEVERITIES = [
  { value: "", label: "By the value" },
  { value: "critical", label: "Critical" },
  { value: "warning", label: "Warning" },
  { value: "info", label: "Info" },
];

function ConfigField({ field, text, onText }: { field: RuleField; text: string; onText: (text: string) => void }) {
  const label = field.unit ? `${field.label}, ${field.unit}` : field.label;
  if (field.kind === "select")
    return <SelectField label={label} value={text} options={field.options ?? []} hint={field.hint} onChange={onText} />;
  if (field.kind === "lines") return <Lines label={label} initial={text} hint={field.hint} onText={onText} />;
  return (
    <Field
      label={label}
      type={field.kind === "number" ? "number" : "text"}
      step={field.kind === "number" ? "any" : undefined}
      value={text}
      hint={field.hint}
      spellCheck={false}
      onText={onText}
    />
  );
}

/** Keeps what is typed, blank lines too; the configuration has the lines that are not blank. */
function Lines({
  initial,
  ...field
}: {
  label: string;
  initial: string;
  hint?: string;
  onText: (text: string) => void;
}) {
  const [typed, setTyped] = useState(initial);
  return (
    <TextArea
      {...field}
      rows={3}
      value={typed}
      onText={(next) => {
        setTyped(next);
        field.onText(next);
      }}
    />
  );
}
