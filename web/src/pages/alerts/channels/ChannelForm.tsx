// The form of a channel: a name, a type, and the fields of the type.
import { useState } from "react";
import { type Channel, useSaveChannel } from "../../../api/channels";
import { useConfigTypes } from "../../../api/config-types";
import { fieldAt, fromForm, isShown, newConfig, toForm } from "../../../model/config-fields";
import { showToast } from "../../../model/toasts";
import type { ConfigType } from "../../../model/types";
import { ConfigInput } from "../../../parts/ConfigInput";
import { Problem, Submit } from "../../../parts/MutationButton";
import { QueryView } from "../../../parts/states";
import { Dialog } from "../../../ui/Dialog";
import { SelectField } from "../../../ui/SelectField";

interface Props {
  /** Null for a new one. */
  channel: Channel | null;
  onClose: () => void;
}

export function ChannelForm(props: Props) {
  const { channel, onClose } = props;
  const query = useConfigTypes("channels");
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={channel ? `Channel ${channel.name}` : "New channel"}
    >
      <QueryView query={query}>{({ types }) => <Form types={types} {...props} />}</QueryView>
    </Dialog>
  );
}

function Form({ types, channel, onClose }: Props & { types: ConfigType[] }) {
  // The values of another type are of no use here; those of the stored type come back.
  const begun = (type: ConfigType) => (type.type === channel?.channelType ? channel.config : newConfig(type.fields));
  const [type, setType] = useState(types.find((one) => one.type === channel?.channelType) ?? types[0]);
  const [settings, setSettings] = useState(() => toForm(type.settings, { name: channel?.name }));
  const [values, setValues] = useState(() => toForm(type.fields, begun(type)));
  const [fault, setFault] = useState<string | null>(null);
  const save = useSaveChannel();
  const choose = (name: string) => {
    const next = types.find((one) => one.type === name) ?? types[0];
    setType(next);
    setValues(toForm(next.fields, begun(next)));
    setFault(null);
  };
  const submit = () => {
    const chosen = fromForm(type.settings, settings);
    const read = fromForm(type.fields, values, begun(type));
    if ("error" in chosen) return setFault(chosen.error);
    if ("error" in read) return setFault(read.error);
    setFault(null);
    save.mutate(
      { id: channel?.id, name: chosen.config.name as string, channelType: type.type, config: read.config },
      {
        onSuccess: (saved) => {
          showToast(channel ? `Channel ${saved.name} saved` : `Channel ${saved.name} made`);
          onClose();
        },
      },
    );
  };
  const shown = type.fields.filter((field) => isShown(field, values));
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <ConfigInput
        field={fieldAt(type.settings, "name")}
        value={settings.name}
        onChange={(name) => setSettings({ ...settings, name })}
      />
      <SelectField
        label="Type"
        value={type.type}
        options={types.map(({ type, label }) => ({ value: type, label }))}
        hint={type.about}
        onChange={choose}
      />
      {shown.map((field) => (
        <ConfigInput
          key={`${type.type} ${field.key}`}
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
  );
}
