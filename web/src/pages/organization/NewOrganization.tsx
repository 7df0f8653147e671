import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { bundleQuery } from "../../api/account";
import { createOrganization } from "../../api/account-organization";
import { browserZone } from "../../model/zones";
import { Problem, Submit } from "../../parts/MutationButton";
import { Dialog } from "../../ui/Dialog";
import { Field, focusHere } from "../../ui/Field";

export function NewOrganization({ close, onMade }: { close: () => void; onMade: (id: number) => void }) {
  const [name, setName] = useState("");
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: () => createOrganization({ name: name.trim(), timezone: browserZone() }),
    onSuccess: (made) => {
      client.setQueryData(
        bundleQuery.queryKey,
        (old) => old && { ...old, organizations: [...old.organizations, made] },
      );
      onMade(made.id);
    },
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title="New organization"
      description="With members, roles and projects of its own. You become its owner."
    >
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <Field big label="Name" required maxLength={100} value={name} onText={setName} ref={focusHere} />
        <Problem of={create} />
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={close}>
            Cancel
          </button>
          <Submit of={create} disabled={!name.trim()}>
            Make the organization
          </Submit>
        </div>
      </form>
    </Dialog>
  );
}
