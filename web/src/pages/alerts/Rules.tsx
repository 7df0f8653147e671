// The notification rules of the project. A form, prefilled by the URL, creates one: `?new=<type>&config=<json>`.
import { getRouteApi } from "@tanstack/react-router";
import { BellPlus, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { useMayWrite } from "../../api/account";
import { useTypesForLabels } from "../../api/config-types";
import { type Rule, useDeleteRule, useRules, useSnoozeRule, useToggleRule } from "../../api/rules";
import { labelOf } from "../../model/config-fields";
import { NONE } from "../../model/format";
import { exactTime } from "../../model/time";
import { Ago } from "../../parts/Ago";
import { Confirm } from "../../parts/Confirm";
import { type Column, DataTable } from "../../parts/DataTable";
import { usePatchSearch } from "../../parts/listSearch";
import { Problem } from "../../parts/MutationButton";
import { PageHead } from "../../parts/Page";
import { Empty, QueryView } from "../../parts/states";
import { Chip } from "../../ui/Chip";
import { AlertsTabs } from "./AlertsTabs";
import { RuleDialog } from "./RuleDialog";

const route = getRouteApi("/p/$pid/alerts/rules");

export function AlertRulesPage() {
  const search = route.useSearch();
  const patch = usePatchSearch();
  const query = useRules();
  const mayWrite = useMayWrite();
  const [edited, setEdited] = useState<Rule | null>(null);
  const [deleted, setDeleted] = useState<Rule | null>(null);
  const add = () => patch({ new: "error_rate_threshold" });
  const addButton = (
    <button type="button" className="btn btn-primary" onClick={add}>
      <BellPlus size={14} aria-hidden /> New rule
    </button>
  );
  return (
    <>
      <PageHead title="Alerts" sub="Who is notified of what." actions={mayWrite && addButton} />
      <AlertsTabs />
      <div className="panel mx-4 mb-6 overflow-x-auto">
        <QueryView query={query}>
          {({ rules }) =>
            rules.length ? (
              <DataTable
                label="Rules"
                columns={columns(mayWrite, setEdited, setDeleted)}
                rows={rules}
                rowKey={(rule) => String(rule.id)}
              />
            ) : (
              <Empty title="No rules" action={mayWrite && addButton}>
                A rule watches the data of this project, and notifies a channel when something is wrong.
              </Empty>
            )
          }
        </QueryView>
      </div>
      {mayWrite && search.new !== undefined && (
        <RuleDialog
          key={`${search.new} ${search.config ?? ""}`}
          type={search.new}
          config={search.config}
          name={search.name}
          onClose={() => patch({ new: undefined, config: undefined, name: undefined })}
        />
      )}
      {edited && <RuleDialog key={edited.id} rule={edited} type={edited.ruleType} onClose={() => setEdited(null)} />}
      {deleted && <DeleteRule rule={deleted} onClose={() => setDeleted(null)} />}
    </>
  );
}

function columns(mayWrite: boolean, edit: (rule: Rule) => void, remove: (rule: Rule) => void): readonly Column<Rule>[] {
  return [
    {
      key: "name",
      head: "Rule",
      card: "main",
      cell: (rule) => (
        <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
          <span className="font-medium [overflow-wrap:anywhere]">{rule.name}</span>
          {!rule.enabled && <Chip>off</Chip>}
          {rule.firing > 0 && <Chip tone="error">firing{rule.firing > 1 && ` for ${rule.firing}`}</Chip>}
          {rule.snoozedUntil && <Chip tip={`Until ${exactTime(rule.snoozedUntil)}`}>snoozed</Chip>}
        </span>
      ),
    },
    { key: "type", head: "Type", width: "24%", card: "half", cell: (rule) => <TypeLabel type={rule.ruleType} /> },
    {
      key: "fired",
      head: "Last fired",
      width: "110px",
      num: true,
      className: "text-ink2",
      cell: (rule) => (rule.lastFiredAt ? <Ago at={rule.lastFiredAt} /> : NONE),
    },
    ...(mayWrite
      ? [
          {
            key: "actions",
            head: "Actions",
            width: "290px",
            card: "main" as const,
            cell: (rule: Rule) => <Actions rule={rule} edit={edit} remove={remove} />,
          },
        ]
      : []),
  ];
}

function TypeLabel({ type }: { type: string }) {
  return labelOf(useTypesForLabels("rules"), type);
}

const HOUR_MINUTES = 60;

function Actions({ rule, edit, remove }: { rule: Rule; edit: (rule: Rule) => void; remove: (rule: Rule) => void }) {
  const toggle = useToggleRule();
  const snooze = useSnoozeRule();
  return (
    <span className="flex flex-wrap items-center gap-1">
      <button
        type="button"
        className="btn"
        aria-label={`Turn ${rule.enabled ? "off" : "on"} ${rule.name}`}
        disabled={toggle.isPending}
        onClick={() => toggle.mutate(rule.id)}
      >
        {rule.enabled ? "Turn off" : "Turn on"}
      </button>
      <button
        type="button"
        className="btn"
        aria-label={rule.snoozedUntil ? `End the snooze of ${rule.name}` : `Snooze ${rule.name} for an hour`}
        disabled={snooze.isPending || !rule.enabled}
        onClick={() => snooze.mutate({ id: rule.id, durationMinutes: rule.snoozedUntil ? 0 : HOUR_MINUTES })}
      >
        {rule.snoozedUntil ? "End snooze" : "Snooze 1 h"}
      </button>
      <button type="button" className="btn btn-icon" aria-label={`Change ${rule.name}`} onClick={() => edit(rule)}>
        <Pencil size={14} aria-hidden />
      </button>
      <button type="button" className="btn btn-icon" aria-label={`Delete ${rule.name}`} onClick={() => remove(rule)}>
        <Trash2 size={14} aria-hidden />
      </button>
      <Problem of={toggle.error ? toggle : snooze} />
    </span>
  );
}

function DeleteRule({ rule, onClose }: { rule: Rule; onClose: () => void }) {
  const remove = useDeleteRule();
  return (
    <Confirm
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Delete ${rule.name}?`}
      label="Delete rule"
      busy="Deleting…"
      of={remove}
      onConfirm={() => remove.mutate(rule, { onSuccess: onClose })}
    >
      <p>Its alerts end, and nobody is notified by it again. The history stays.</p>
    </Confirm>
  );
}
