// The post-mortem of an incident: read, or written with a preview.
import { useDeferredValue, useState } from "react";
import { useDeletePostMortem, useMarkdown, useWritePostMortem } from "../../api/incidents";
import { showToast } from "../../model/toasts";
import type { PostMortem } from "../../model/types";
import { Ago } from "../../parts/Ago";
import { Confirm } from "../../parts/Confirm";
import { Markdown } from "../../parts/Markdown";
import { MutationButton, Problem, Submit } from "../../parts/MutationButton";
import { Section } from "../../parts/Page";
import { QueryView } from "../../parts/states";
import { Chip } from "../../ui/Chip";
import { Switch } from "../../ui/Switch";
import { TextArea } from "../../ui/TextArea";

interface Props {
  id: string;
  stored: PostMortem | null;
  /** Its beginning, with the timeline. */
  draft: string;
  mayWrite: boolean;
}

export function PostMortemSection({ id, stored, draft, mayWrite }: Props) {
  const [isEditing, setEditing] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const remove = useDeletePostMortem(id);
  const actions = mayWrite && !isEditing && (
    <div className="flex gap-2">
      <button type="button" className="btn" onClick={() => setEditing(true)}>
        {stored ? "Edit" : "Write"}
      </button>
      {stored && (
        <MutationButton of={remove} onClick={() => setDeleting(true)}>
          Delete
        </MutationButton>
      )}
    </div>
  );
  return (
    <Section title="Post-mortem" actions={actions}>
      {isEditing ? (
        <Editor id={id} stored={stored} draft={draft} close={() => setEditing(false)} />
      ) : stored ? (
        <>
          <p className="mb-2 flex flex-wrap items-center gap-2 text-ink2">
            {stored.published ? <Chip tone="ok">on status pages</Chip> : <Chip>to members</Chip>}
            <span>
              {stored.author}, <Ago at={stored.updatedAt} />
            </span>
          </p>
          <Markdown nodes={stored.nodes} />
        </>
      ) : (
        <p className="text-ink2">Not written yet. The timeline is filled in when you begin.</p>
      )}
      {isDeleting && (
        <Confirm
          open
          onOpenChange={setDeleting}
          title="Delete the post-mortem?"
          label="Delete the post-mortem"
          of={remove}
          onConfirm={() => remove.mutate(undefined, { onSuccess: () => setDeleting(false) })}
        >
          <p>It cannot be restored.</p>
        </Confirm>
      )}
    </Section>
  );
}

function Editor({ id, stored, draft, close }: Omit<Props, "mayWrite"> & { close: () => void }) {
  const [body, setBody] = useState(stored?.body ?? draft);
  const [published, setPublished] = useState(stored?.published ?? false);
  const write = useWritePostMortem(id);
  const preview = useMarkdown(useDeferredValue(body));
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        write.mutate(
          { body, published },
          {
            onSuccess: () => {
              close();
              showToast("Post-mortem saved");
            },
          },
        );
      }}
    >
      <TextArea label="Markdown" rows={16} value={body} onText={setBody} />
      <section aria-label="Preview" className="rounded-control border border-line p-3">
        <QueryView query={preview}>{({ nodes }) => <Markdown nodes={nodes} />}</QueryView>
      </section>
      <Switch label="Show it on the status pages of the incident" checked={published} onChange={setPublished} />
      <Problem of={write} />
      <div className="flex gap-2">
        <Submit of={write} disabled={!body.trim()}>
          Save
        </Submit>
        <button type="button" className="btn" onClick={close}>
          Cancel
        </button>
      </div>
    </form>
  );
}
