// Actions of users on the issue, and comments.
import { MessageSquare, Pencil, Trash2 } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useBundle, useMayWrite } from "../../api/account";
import { useGet } from "../../api/hooks";
import { useComment, useDeleteComment, useEditComment } from "../../api/issues";
import { activityWords } from "../../model/issue-state";
import type { IssueActivity } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { Submit } from "../../parts/MutationButton";
import { Section } from "../../parts/Page";
import { QueryView, SkeletonRows } from "../../parts/states";
import { TextArea } from "../../ui/TextArea";

export function Activity({ hash }: { hash: string }) {
  const query = useGet("/api/exception-stack-traces/{hash}/activity", { path: { hash } });
  const write = useComment(hash);
  const mayWrite = useMayWrite();
  return (
    <Section title="Activity">
      {mayWrite && (
        <CommentForm label="Comment" button="Comment" of={write} onSend={(text) => write.mutateAsync(text)} />
      )}
      <QueryView query={query} skeleton={<SkeletonRows rows={2} />}>
        {({ data, more }) => (
          <>
            <ol className="mt-3 space-y-3" aria-label="Activity of this issue">
              {data.map((entry) => (
                <li key={`${entry.id} ${entry.at}`}>
                  <Entry entry={entry} />
                </li>
              ))}
            </ol>
            {more && <p className="mt-3 text-dense text-ink2">Earlier entries are not shown.</p>}
          </>
        )}
      </QueryView>
    </Section>
  );
}

function Entry({ entry }: { entry: IssueActivity }) {
  const me = useBundle()?.user.id;
  const [editing, setEditing] = useState(false);
  const edit = useEditComment();
  const remove = useDeleteComment();
  const isMine = entry.type === "comment" && entry.by?.userId === me;
  return (
    <div className="min-w-0">
      <div className="flex flex-wrap items-center gap-x-2 text-dense">
        {entry.type === "comment" && <MessageSquare size={13} aria-hidden className="text-ink2" />}
        {entry.by && <span className="font-medium [overflow-wrap:anywhere]">{entry.by.name || entry.by.email}</span>}
        <span className="[overflow-wrap:anywhere]">{activityWords(entry)}</span>
        <span className="text-ink2">
          <Ago at={entry.at} />
          {entry.editedAt && ", edited"}
        </span>
        {isMine && !editing && (
          <span className="ml-auto flex">
            <button
              type="button"
              className="btn btn-ghost btn-icon"
              aria-label="Edit the comment"
              onClick={() => setEditing(true)}
            >
              <Pencil size={13} aria-hidden />
            </button>
            <button
              type="button"
              className="btn btn-ghost btn-icon"
              aria-label="Delete the comment"
              onClick={() => remove.mutate(entry.id)}
            >
              <Trash2 size={13} aria-hidden />
            </button>
          </span>
        )}
      </div>
      {editing ? (
        <CommentForm
          label="Edit the comment"
          button="Save"
          initial={entry.comment}
          of={edit}
          onSend={async (comment) => {
            await edit.mutateAsync({ id: entry.id, comment });
            setEditing(false);
          }}
        />
      ) : (
        entry.comment && <p className="mt-1 whitespace-pre-wrap [overflow-wrap:anywhere]">{entry.comment}</p>
      )}
    </div>
  );
}

function CommentForm({
  label,
  button,
  initial = "",
  of,
  onSend,
}: {
  label: string;
  button: string;
  initial?: string;
  of: { isPending: boolean; error: Error | null };
  onSend: (comment: string) => Promise<unknown>;
}) {
  const [comment, setComment] = useState(initial);
  const send = async (event: FormEvent) => {
    event.preventDefault();
    if (!comment.trim()) return;
    // On an error the comment stays in the form; the mutation shows the error.
    await onSend(comment).then(
      () => setComment(""),
      () => undefined,
    );
  };
  return (
    <form onSubmit={send} className="space-y-2">
      <TextArea label={label} rows={2} value={comment} onText={setComment} />
      <Submit of={of} disabled={!comment.trim()}>
        {button}
      </Submit>
    </form>
  );
}
