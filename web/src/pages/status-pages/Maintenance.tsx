// Maintenance windows of a status page.
import { useState } from "react";
import { useDeleteMaintenance, usePlanMaintenance } from "../../api/status-pages";
import { exactTime } from "../../model/time";
import { showToast } from "../../model/toasts";
import type { Maintenance, StatusPage } from "../../model/types";
import { MutationButton, Problem, Submit } from "../../parts/MutationButton";
import { Section } from "../../parts/Page";
import { Field } from "../../ui/Field";
import { TextArea } from "../../ui/TextArea";

export function MaintenanceSection({ page }: { page: StatusPage }) {
  const remove = useDeleteMaintenance(page.id);
  const plan = usePlanMaintenance(page.id);
  const undo = (window: Maintenance) => ({
    label: "Undo",
    run: () => {
      const { title, description, startsAt, endsAt } = window;
      plan.mutate({ title, description, startsAt, endsAt });
    },
  });
  return (
    <Section title="Maintenance">
      <div className="space-y-4">
        {page.maintenance.length > 0 && (
          <ul aria-label="Maintenance windows" className="divide-y divide-line">
            {page.maintenance.map((window) => (
              <li key={window.id} className="flex flex-wrap items-center justify-between gap-2 py-2">
                <span className="min-w-0">
                  <span className="block font-medium [overflow-wrap:anywhere]">{window.title}</span>
                  <span className="text-dense text-ink2">
                    {exactTime(window.startsAt)} to {exactTime(window.endsAt)}
                  </span>
                </span>
                <MutationButton
                  of={remove}
                  aria-label={`Delete ${window.title}`}
                  onClick={() =>
                    remove.mutate(window.id, { onSuccess: () => showToast(`Deleted ${window.title}`, undo(window)) })
                  }
                >
                  Delete
                </MutationButton>
              </li>
            ))}
          </ul>
        )}
        <Problem of={remove} />
        <Plan id={page.id} />
      </div>
    </Section>
  );
}

/** The instant of a field of a date and a time, in the time zone of the browser; empty if it is none. */
function instant(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString();
}

function Plan({ id }: { id: number }) {
  const [title, setTitle] = useState("");
  const [description, setDescription] = useState("");
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const plan = usePlanMaintenance(id);
  const [startsAt, endsAt] = [instant(from), instant(to)];
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        plan.mutate(
          { title: title.trim(), description: description.trim(), startsAt, endsAt },
          {
            onSuccess: () => {
              setTitle("");
              setDescription("");
              showToast("Maintenance planned");
            },
          },
        );
      }}
    >
      <Field label="What is done" required maxLength={200} value={title} onText={setTitle} />
      <TextArea label="Details" rows={2} value={description} onText={setDescription} />
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="From" type="datetime-local" required value={from} onText={setFrom} />
        <Field
          label="To"
          type="datetime-local"
          required
          value={to}
          onText={setTo}
          hint="In the time zone of this browser"
        />
      </div>
      <Problem of={plan} />
      <Submit of={plan} className="btn" disabled={!title.trim() || !startsAt || !endsAt}>
        Plan maintenance
      </Submit>
    </form>
  );
}
