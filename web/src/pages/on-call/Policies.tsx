import { useState } from "react";
import { type Policy, useDelete, useOncallOrganization, usePolicies } from "../../api/oncall";
import { showToast } from "../../model/toasts";
import { Confirm } from "../../parts/Confirm";
import { Section } from "../../parts/Page";
import { Empty, QueryView } from "../../parts/states";
import { Chip } from "../../ui/Chip";
import { PolicyEditor } from "./PolicyEditor";
import { targetName, URGENCIES, useTargetNames } from "./targets";

/** Escalation policies: whom a page reaches, step by step. */
export function Policies() {
  const query = usePolicies();
  const { isAdmin } = useOncallOrganization();
  const [edited, setEdited] = useState<Policy | "new" | null>(null);
  const [deleted, setDeleted] = useState<Policy | null>(null);
  const remove = useDelete("escalation-policies");
  return (
    <>
      <Section
        title="Escalation policies"
        actions={
          isAdmin && (
            <button type="button" className="btn" onClick={() => setEdited("new")}>
              New policy
            </button>
          )
        }
      >
        <QueryView query={query}>
          {({ policies }) =>
            policies.length ? (
              <ul className="grid gap-3 lg:grid-cols-2">
                {policies.map((policy) => (
                  <li key={policy.id}>
                    <PolicyCard
                      policy={policy}
                      edit={isAdmin ? () => setEdited(policy) : undefined}
                      remove={() => setDeleted(policy)}
                    />
                  </li>
                ))}
              </ul>
            ) : (
              <Empty title="No escalation policies yet">
                A policy says who is woken, and how long to wait before the next one is.
              </Empty>
            )
          }
        </QueryView>
      </Section>
      {edited && <PolicyEditor policy={edited === "new" ? null : edited} close={() => setEdited(null)} />}
      {deleted && (
        <Confirm
          open
          onOpenChange={(open) => !open && setDeleted(null)}
          title={`Delete ${deleted.name}?`}
          label="Delete the policy"
          of={remove}
          onConfirm={() =>
            remove.mutate(deleted.id, {
              onSuccess: () => {
                setDeleted(null);
                showToast(`Policy ${deleted.name} deleted`);
              },
            })
          }
        >
          <p>Pages that are open follow it to their end.</p>
        </Confirm>
      )}
    </>
  );
}

function PolicyCard({ policy, edit, remove }: { policy: Policy; edit?: () => void; remove: () => void }) {
  const names = useTargetNames();
  const { steps, repeat, urgency } = policy.definition;
  return (
    <section aria-label={policy.name} className="h-full rounded-control border border-line p-3">
      <div className="flex flex-wrap items-start justify-between gap-2">
        <h3 className="min-w-0 font-semibold [overflow-wrap:anywhere]">{policy.name}</h3>
        {edit && (
          <span className="flex gap-1">
            <button type="button" className="btn" aria-label={`Edit the policy ${policy.name}`} onClick={edit}>
              Edit
            </button>
            <button type="button" className="btn" aria-label={`Delete the policy ${policy.name}`} onClick={remove}>
              Delete
            </button>
          </span>
        )}
      </div>
      <ol className="mt-2 list-decimal space-y-1 pl-5">
        {steps.map((step, index) => (
          <li key={index} className="[overflow-wrap:anywhere]">
            {step.targets.map((target) => targetName(names, target)).join(", ")}
            <span className="text-ink2">, then wait {step.delayMinutes} min</span>
          </li>
        ))}
      </ol>
      <p className="mt-2 flex flex-wrap gap-2">
        <Chip>{repeat ? `again ${repeat} times` : "once"}</Chip>
        <Chip>{URGENCIES.find((one) => one.value === urgency)?.label}</Chip>
      </p>
    </section>
  );
}
