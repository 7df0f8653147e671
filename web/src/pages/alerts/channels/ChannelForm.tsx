// The form of a channel: a name, a type, and the fields of the type.
import { useState } from "react";
import { type Channel, useSaveChannel } from "../../../api/channels";
import { usePolicies } from "../../../api/oncall";
import {
  CHANNEL_TYPES,
  type ChannelField,
  type ChannelType,
  type FormValues,
  fieldsOf,
  fromForm,
  TYPE_NAMES,
  toForm,
} from "../../../model/channel-types";
import { showToast } from "../../../model/toasts";
import { Problem, Submit } from "../../../parts/MutationButton";
import { Dialog } from "../../../ui/Dialog";
import { Field } from "../../../ui/Field";
import { SelectField } from "../../../ui/SelectField";
import { Switch } from "../../../ui/Switch";
import { TextArea } from "../../../ui/TextArea";

const TYPES = TYPE_NAMES.map((value) => ({ value, label: CHANNEL_TYPES[value].label }));

/** `channel` is null for a new one. */
export function ChannelForm({ channel, onClose }: { channel: Channel | null; onClose: () => void }) {
  const [name, setName] = useState(channel?.name ?? "");
  const [type, setType] = useState<ChannelType>(channel?.channelType ?? "email");
  const [values, setValues] = useState<FormValues>(() => toForm(type, channel?.config ?? {}));
  const [fault, setFault] = useState<string | null>(null);
  const save = useSaveChannel();
  const choose = (next: ChannelType) => {
    setType(next);
    // The values of another type are of no use here; those of the stored type come back.
    setValues(toForm(next, next === channel?.channelType ? channel.config : {}));
    setFault(null);
  };
  const submit = () => {
    const read = fromForm(type, values);
    if ("error" in read) return setFault(read.error);
    setFault(null);
    save.mutate(
      { id: channel?.id, name: name.trim(), channelType: type, config: read.config },
      {
        onSuccess: (saved) => {
          showToast(channel ? `Channel ${saved.name} saved` : `Channel ${saved.name} made`);
          onClose();
        },
      },
    );
  };
  const shown = fieldsOf(type).filter((field) => !field.when || field.when(values));
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={channel ? `Channel ${channel.name}` : "New channel"}
    >
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Field label="Name" required maxLength={100} autoComplete="off" value={name} onText={setName} />
        <SelectField
          label="Type"
          value={type}
          options={TYPES}
          hint={CHANNEL_TYPES[type].help}
          onChange={(next) => choose(next as ChannelType)}
        />
        {shown.map((field) => (
          <Input
            key={`${type} ${field.key}`}
            field={field}
            value={values[field.key]}
            onChange={(value) => setValues({ ...values, [field.key]: value })}
          />
        ))}
        {channel && shown.some((field) => field.kind === "secret") && (
          <p className="text-dense text-ink2">Stored secrets are shown as ********, and stay as they are.</p>
        )}
        {fault && (
          <p role="alert" className="rounded-control bg-errorsoft px-3 py-2 text-error">
            {fault}
          </p>
        )}
        <Problem of={save} />
        <div className="flex flex-wrap justify-end gap-2">
          <button type="button" className="btn" onClick={onClose}>
            Cancel
          </button>
          <Submit of={save} busy="Saving…">
            {channel ? "Save" : "Make the channel"}
          </Submit>
        </div>
      </form>
    </Dialog>
  );
}

function Input({
  field,
  value,
  onChange,
}: {
  field: ChannelField;
  value: string | boolean;
  onChange: (value: string | boolean) => void;
}) {
  const { label, hint, placeholder, required, kind } = field;
  if (kind === "switch") return <Switch label={label} hint={hint} checked={value === true} onChange={onChange} />;
  const text = typeof value === "string" ? value : "";
  if (kind === "policy") return <PolicyChoice label={label} value={text} onChange={onChange} />;
  if (kind === "list" || kind === "pairs")
    return <TextArea label={label} hint={hint} rows={3} value={text} onText={onChange} />;
  if (kind === "choice")
    return <SelectField label={label} hint={hint} value={text} options={field.choices ?? []} onChange={onChange} />;
  return (
    <Field
      label={label}
      hint={hint}
      placeholder={placeholder}
      required={required}
      type={kind === "secret" ? "password" : "text"}
      inputMode={kind === "number" ? "numeric" : undefined}
      autoComplete={kind === "secret" ? "new-password" : "off"}
      spellCheck={false}
      value={text}
      onText={onChange}
    />
  );
}

/** One of the escalation policies of the organization. */
function PolicyChoice({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  const { data, isPending } = usePolicies();
  const policies = data?.policies ?? [];
  const isKnown = value === "" || isPending || policies.some((one) => String(one.id) === value);
  return (
    <SelectField
      label={label}
      value={value}
      hint={!isPending && policies.length === 0 ? "Create one at On-call, Policies." : undefined}
      options={[
        { value: "", label: "Choose a policy…" },
        ...policies.map((one) => ({ value: String(one.id), label: one.name })),
        ...(isKnown ? [] : [{ value, label: "A policy that was deleted" }]),
      ]}
      onChange={onChange}
    />
  );
}
