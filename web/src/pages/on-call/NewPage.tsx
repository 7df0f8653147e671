import { useState } from "react";
import { type Policy, useOpenPage } from "../../api/oncall";
import { Problem, Submit } from "../../parts/MutationButton";
import { Dialog } from "../../ui/Dialog";
import { Field } from "../../ui/Field";
import { SelectField } from "../../ui/SelectField";
import { TextArea } from "../../ui/TextArea";

const SEVERITIES = [
  { value: "critical", label: "Critical" },
  { value: "warning", label: "Warning" },
  { value: "info", label: "Info" },
];

/** Pages somebody by hand. */
export function NewPage({
  policies,
  close,
  onOpened,
}: {
  policies: Policy[];
  close: () => void;
  onOpened: (id: number) => void;
}) {
  const [policyId, setPolicy] = useState(policies[0]?.id ?? 0);
  const [subject, setSubject] = useState("");
  const [body, setBody] = useState("");
  const [severity, setSeverity] = useState("critical");
  const open = useOpenPage();
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && close()} title="Page somebody">
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          open.mutate({ policyId, subject, body, severity }, { onSuccess: (page) => onOpened(page.id) });
        }}
      >
        <Field label="What is wrong" value={subject} onText={setSubject} required maxLength={100} />
        <TextArea label="More about it" rows={3} value={body} onText={setBody} />
        <SelectField
          label="Escalation policy"
          value={String(policyId)}
          options={policies.map((one) => ({ value: String(one.id), label: one.name }))}
          onChange={(id) => setPolicy(Number(id))}
        />
        <SelectField label="Severity" value={severity} options={SEVERITIES} onChange={setSeverity} />
        <Problem of={open} />
        <div className="flex flex-wrap justify-end gap-2">
          <button type="button" className="btn" onClick={close}>
            Cancel
          </button>
          <Submit of={open} busy="Paging…">
            Page now
          </Submit>
        </div>
      </form>
    </Dialog>
  );
}
