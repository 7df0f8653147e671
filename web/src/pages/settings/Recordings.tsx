// Session recordings: whether they are kept, what they show, and the deletion of one person's sessions.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ProjectExtra } from "../../api/account-types";
import { deleteSessionsOf } from "../../api/sessions";
import { plural } from "../../model/format";
import { showToast } from "../../model/toasts";
import { Confirm } from "../../parts/Confirm";
import { Problem } from "../../parts/MutationButton";
import { Field } from "../../ui/Field";
import { Switch } from "../../ui/Switch";
import { useSave } from "./useSave";

export function Recordings({
  project,
  readonly,
  manages,
}: {
  project: ProjectExtra;
  readonly: boolean;
  manages: boolean;
}) {
  const { change, save } = useSave();
  return (
    <div className="space-y-5">
      <Switch
        label="Keep recordings"
        hint="What people saw and did in your pages and apps, to be replayed. Turned off, recordings that arrive are dropped and counted; sessions, errors and what is stored already stay."
        checked={project.settings.sessionRecordings ?? true}
        disabled={readonly || change.isPending}
        onChange={(sessionRecordings) =>
          save(
            { sessionRecordings },
            sessionRecordings ? "Recordings are kept from now on" : "Recordings are dropped from now on",
          )
        }
      />
      <Problem of={change} />
      <Masking />
      {manages && <DeleteSessions project={project} />}
    </div>
  );
}

function Masking() {
  return (
    <div className="space-y-2">
      <h3 className="font-medium">What a recording shows</h3>
      <p className="text-ink2">
        The browser records the page itself, not a film of the screen, and masks before it sends: what was masked never
        arrives here. Passwords are always masked. Mark the rest in your page:
      </p>
      <dl className="divide-y divide-line rounded-control border border-line text-dense">
        {[
          ["rr-block", "The element is a grey box of its size; its contents are not recorded."],
          ["rr-mask", "Its text is recorded as asterisks."],
          ["rr-ignore", "A field whose typing is not recorded."],
        ].map(([name, words]) => (
          <div key={name} className="flex flex-wrap gap-x-4 px-3 py-1.5">
            <dt className="w-40 font-mono">class="{name}"</dt>
            <dd className="min-w-48 flex-1 text-ink2">{words}</dd>
          </div>
        ))}
      </dl>
      <p className="text-ink2">
        A replay loads nothing from other servers, runs none of the page's code, and cannot reach this site.
      </p>
    </div>
  );
}

function DeleteSessions({ project }: { project: ProjectExtra }) {
  const [user, setUser] = useState("");
  const [isOpen, setOpen] = useState(false);
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteSessionsOf(project.id, user.trim()),
    onSuccess: ({ deleted }) => {
      setOpen(false);
      setUser("");
      showToast(deleted ? `${plural(deleted, "session")} deleted` : "That user has no sessions");
      client.invalidateQueries({ queryKey: [project.id] });
    },
  });
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (user.trim()) setOpen(true);
      }}
    >
      <h3 className="font-medium">Delete the sessions of one person</h3>
      <Field
        label="User id"
        hint="The value of the attribute userId, exactly as your page sets it. Sessions and recordings go; errors stay, without their recordings."
        value={user}
        autoComplete="off"
        spellCheck={false}
        onText={setUser}
      />
      <button type="submit" className="btn btn-danger" disabled={!user.trim()}>
        Delete the sessions…
      </button>
      <Confirm
        open={isOpen}
        onOpenChange={setOpen}
        title={`Delete the sessions of ${user.trim()}?`}
        label="Delete for good"
        busy="Deleting…"
        of={remove}
        onConfirm={() => remove.mutate()}
      >
        <p>
          All sessions of this user in {project.name}, with their recordings, are gone for good. New ones are stored
          again if the page goes on sending them.
        </p>
      </Confirm>
    </form>
  );
}
