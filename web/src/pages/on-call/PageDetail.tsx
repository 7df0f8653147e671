import { useParams } from "@tanstack/react-router";
import { type Delivery, type OncallPage, useActOnPages, usePage } from "../../api/oncall";
import { dateTime, parseMs } from "../../model/time";
import { Ago } from "../../parts/Ago";
import { MutationButton, Problem } from "../../parts/MutationButton";
import { QueryView, SkeletonRows } from "../../parts/states";
import { Chip, type Tone } from "../../ui/Chip";
import { Dialog } from "../../ui/Dialog";
import { StatusChip } from "./PageTable";
import { targetName, useTargetNames } from "./targets";

const DELIVERY: Record<Delivery["status"], Tone> = {
  pending: "plain",
  sent: "ok",
  failed: "error",
  cancelled: "plain",
};

/** One page: its state, its escalation, its deliveries. */
export function PageDetail({ id, close }: { id: number; close: () => void }) {
  const query = usePage(id);
  return (
    <Dialog open wide onOpenChange={(open) => !open && close()} title={query.data?.page.subject ?? "Page"}>
      <QueryView query={query} skeleton={<SkeletonRows rows={5} />}>
        {({ page, notifications, users }) => (
          <div className="space-y-4">
            <Facts page={page} />
            <Actions page={page} />
            <Steps page={page} />
            <section aria-label="Deliveries">
              <h3 className="mb-1 font-semibold">Deliveries</h3>
              {notifications.length ? (
                <ul className="divide-y divide-line">
                  {notifications.map((one) => (
                    <li key={one.id} className="flex flex-wrap items-center gap-2 py-1.5">
                      <Chip tone={DELIVERY[one.status]}>{one.status}</Chip>
                      <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
                        {one.userId ? (users[String(one.userId)] ?? "somebody who left") : "channel"}: {one.targetDesc}
                        {one.errorMsg && <span className="block text-dense text-error">{one.errorMsg}</span>}
                      </span>
                      <span className="text-dense text-ink2">
                        step {one.level + 1}, <Ago at={one.createdAt} />
                      </span>
                    </li>
                  ))}
                </ul>
              ) : (
                <p className="text-ink2">Nobody was reached yet.</p>
              )}
            </section>
          </div>
        )}
      </QueryView>
    </Dialog>
  );
}

function Facts({ page }: { page: OncallPage }) {
  const pid = useParams({ strict: false }).pid;
  return (
    <div className="space-y-2">
      <p className="flex flex-wrap items-center gap-2">
        <StatusChip status={page.status} />
        <Chip tone={page.urgency === "high" ? "error" : "plain"}>{page.urgency} urgency</Chip>
        <Chip>{page.severity}</Chip>
        <span className="text-ink2">
          opened <Ago at={page.createdAt} />, fired {page.eventCount === 1 ? "once" : `${page.eventCount} times`}
        </span>
      </p>
      {page.body && <p className="whitespace-pre-line [overflow-wrap:anywhere]">{page.body}</p>}
      {page.acknowledgedAt && (
        <p className="text-ink2">
          Acknowledged by {page.acknowledgedByName ?? "somebody who left"}{" "}
          {page.acknowledgedVia === "link" && "with a link "}
          at {dateTime(parseMs(page.acknowledgedAt))}.
        </p>
      )}
      {page.resolvedAt && (
        <p className="text-ink2">
          Resolved {page.resolvedByName ? `by ${page.resolvedByName}` : "by the end of the alert"} at{" "}
          {dateTime(parseMs(page.resolvedAt))}.
        </p>
      )}
      {page.url.startsWith("/") && !page.url.startsWith("//") && (
        <a className="link" href={page.url.startsWith("/p/") ? page.url : `/p/${pid}${page.url}`}>
          Look at the cause
        </a>
      )}
    </div>
  );
}

function Actions({ page }: { page: OncallPage }) {
  const act = useActOnPages();
  if (page.status === "resolved") return null;
  return (
    <div className="flex flex-wrap items-center gap-2">
      {page.status === "open" && (
        <MutationButton
          of={act}
          className="btn btn-primary"
          onClick={() => act.mutate({ action: "acknowledge", ids: [page.id] })}
        >
          Acknowledge
        </MutationButton>
      )}
      <MutationButton of={act} onClick={() => act.mutate({ action: "resolve", ids: [page.id] })}>
        Resolve
      </MutationButton>
      <Problem of={act} />
    </div>
  );
}

function Steps({ page }: { page: OncallPage }) {
  const names = useTargetNames();
  const next = page.nextEscalationAt;
  return (
    <section aria-label="Escalation">
      <h3 className="mb-1 font-semibold">
        Escalation <span className="font-normal text-ink2">{page.policyName}</span>
      </h3>
      <ol className="list-decimal space-y-1 pl-5">
        {page.policySnapshot.steps.map((step, index) => (
          <li key={index} className="[overflow-wrap:anywhere]">
            {step.targets.map((target) => targetName(names, target)).join(", ")}
            {next && index === page.escalationLevel && (
              <span className="text-ink2"> (next, at {dateTime(parseMs(next))})</span>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
