// The channels of the project: a list with states, a form, tests, deletion.
import { getRouteApi } from "@tanstack/react-router";
import { CircleAlert, CircleCheck, Plus } from "lucide-react";
import { useState } from "react";
import { useProject } from "../../../api/account";
import { type Channel, useChannels, useDeleteChannel, useTestChannel } from "../../../api/channels";
import { useTypesForLabels } from "../../../api/config-types";
import { labelOf } from "../../../model/config-fields";
import { problemWords, sentence } from "../../../model/problem";
import { asRole, mayWrite } from "../../../model/roles";
import { showToast } from "../../../model/toasts";
import { Ago } from "../../../parts/Ago";
import { Confirm } from "../../../parts/Confirm";
import { type Column, DataTable } from "../../../parts/DataTable";
import { PageHead } from "../../../parts/Page";
import { Empty, QueryView } from "../../../parts/states";
import { Chip } from "../../../ui/Chip";
import { AlertsTabs } from "../AlertsTabs";
import { ChannelForm } from "./ChannelForm";

const route = getRouteApi("/p/$pid/alerts/channels");

export function ChannelsPage() {
  const project = useProject();
  const { channel: selected } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useChannels();
  const [deleting, setDeleting] = useState<Channel | null>(null);
  const remove = useDeleteChannel();
  const test = useTestChannel();
  if (!project) return null;
  const writes = mayWrite(asRole(project.role));
  const open = (channel: number | "new" | undefined) => navigate({ search: (search) => ({ ...search, channel }) });
  const edited = typeof selected === "number" ? list.data?.channels.find((one) => one.id === selected) : undefined;
  const make = writes && (
    <button type="button" className="btn btn-primary" onClick={() => open("new")}>
      <Plus size={14} aria-hidden /> New channel
    </button>
  );
  return (
    <>
      <PageHead
        title="Alerts"
        sub={writes ? "Where notifications are sent." : "Where notifications are sent. Changing it takes another role."}
        actions={list.data?.channels.length ? make : undefined}
      />
      <AlertsTabs />
      <div className="space-y-4 px-4 pb-8">
        <TestAnswer test={test} channels={list.data?.channels ?? []} />
        <div className="panel overflow-x-auto">
          <QueryView query={list}>
            {({ channels }) =>
              channels.length ? (
                <DataTable
                  label="Channels"
                  columns={columns(writes, test, open, setDeleting)}
                  rows={channels}
                  rowKey={(row) => String(row.id)}
                />
              ) : (
                <Empty title="No channels yet" action={make}>
                  A channel is where alerts are sent: mail, a chat, a pager, or a webhook of your own.
                </Empty>
              )
            }
          </QueryView>
        </div>
      </div>
      {writes && selected === "new" && <ChannelForm channel={null} onClose={() => open(undefined)} />}
      {writes && edited && <ChannelForm key={edited.id} channel={edited} onClose={() => open(undefined)} />}
      {deleting && (
        <Confirm
          open
          onOpenChange={(isOpen) => !isOpen && setDeleting(null)}
          title={`Delete ${deleting.name}?`}
          label="Delete the channel"
          busy="Deleting…"
          of={remove}
          onConfirm={() =>
            remove.mutate(deleting.id, {
              onSuccess: () => {
                showToast(`Channel ${deleting.name} deleted`);
                setDeleting(null);
              },
            })
          }
        >
          <p>{consequences(deleting)} This cannot be undone.</p>
        </Confirm>
      )}
    </>
  );
}

function counted(count: number, one: string, many: string): string {
  return count === 1 ? `One ${one}` : `${count} ${many}`;
}

function consequences({ ruleCount, waiting }: Channel): string {
  const lost = [];
  if (ruleCount) lost.push(`${counted(ruleCount, "rule", "rules")} that notify it`);
  if (waiting) lost.push(`${counted(waiting, "notification", "notifications")} that wait to be sent`);
  if (!lost.length) return "Nothing is sent to it afterwards.";
  return `Deleted with it: ${lost.join(", and ")}.`;
}

type Test = ReturnType<typeof useTestChannel>;

/** Answer to the latest test. */
function TestAnswer({ test, channels }: { test: Test; channels: Channel[] }) {
  const name = channels.find((one) => one.id === test.variables)?.name ?? "";
  if (test.isPending || (!test.isSuccess && !test.error)) return <div role="status" className="sr-only" />;
  const { error } = test;
  return (
    <div
      role={error ? "alert" : "status"}
      className={`flex items-start gap-2 rounded-control px-3 py-2 ${error ? "bg-errorsoft text-error" : "bg-oksoft text-ok"}`}
    >
      {error ? (
        <CircleAlert size={16} aria-hidden className="mt-0.5 shrink-0" />
      ) : (
        <CircleCheck size={16} aria-hidden className="mt-0.5 shrink-0" />
      )}
      <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        {error ? `${name}: ${problemWords(error)}` : `A test message was sent to ${name}.`}
      </p>
    </div>
  );
}

function columns(
  writes: boolean,
  test: Test,
  open: (channel: number) => void,
  onDelete: (channel: Channel) => void,
): Column<Channel>[] {
  const list: Column<Channel>[] = [
    {
      key: "name",
      head: "Name",
      card: "main",
      cell: (row) => <span className="font-medium [overflow-wrap:anywhere]">{row.name}</span>,
    },
    { key: "type", head: "Type", cell: (row) => <TypeLabel type={row.channelType} /> },
    { key: "state", head: "State", card: "main", cell: (row) => <State channel={row} /> },
    { key: "sent", head: "Last sent", cell: (row) => (row.lastSentAt ? <Ago at={row.lastSentAt} /> : "never") },
    { key: "waiting", head: "Waiting", num: true, cell: (row) => row.waiting },
    { key: "rules", head: "Rules", num: true, cell: (row) => row.ruleCount },
  ];
  if (!writes) return list;
  const actions = (row: Channel) => (
    <div className="flex flex-wrap justify-end gap-1">
      {row.channelType !== "escalation" && (
        <button
          type="button"
          className="btn"
          disabled={test.isPending}
          onClick={() => test.mutate(row.id)}
          aria-label={`Test ${row.name}`}
        >
          {test.isPending && test.variables === row.id ? "Testing…" : "Test"}
        </button>
      )}
      <button type="button" className="btn" onClick={() => open(row.id)} aria-label={`Edit ${row.name}`}>
        Edit
      </button>
      <button type="button" className="btn" onClick={() => onDelete(row)} aria-label={`Delete ${row.name}`}>
        Delete
      </button>
    </div>
  );
  return [...list, { key: "actions", head: "", num: true, card: "main", cell: actions }];
}

function TypeLabel({ type }: { type: string }) {
  return labelOf(useTypesForLabels("channels"), type);
}

function State({ channel }: { channel: Channel }) {
  const { state, failingSince, lastError } = channel;
  return (
    <div className="min-w-0">
      {state === "failing" ? (
        <span className="inline-flex flex-wrap items-center gap-x-2">
          <Chip tone="error">Failing</Chip>
          {failingSince && (
            <span className="text-dense text-ink2">
              since <Ago at={failingSince} />
            </span>
          )}
        </span>
      ) : (
        <Chip tone={state === "working" ? "ok" : "plain"}>{state === "working" ? "Working" : "Not used yet"}</Chip>
      )}
      {lastError && (
        <p className="mt-0.5 whitespace-normal text-dense text-ink2 [overflow-wrap:anywhere]">{sentence(lastError)}</p>
      )}
    </div>
  );
}
