import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useRef, useState } from "react";
import { useCreateProject } from "../api/account";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";

export function NewProject({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const [name, setName] = useState("");
  const form = useRef<HTMLFormElement>(null);
  const create = useCreateProject();
  const navigate = useNavigate();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate(name.trim(), {
      onSuccess: (project) => {
        onOpenChange(false);
        setName("");
        navigate({ to: "/p/$pid/connect", params: { pid: project.id } });
      },
    });
  };
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="New project"
      initialFocus={() => form.current?.querySelector("input")}
      description="One project per product or environment: its services share one token and see each other's traces."
    >
      <form ref={form} onSubmit={submit} className="space-y-4">
        <Field
          big
          label="Name"
          value={name}
          onText={setName}
          maxLength={100}
          required
          placeholder="shop-production"
          autoComplete="off"
          error={create.error?.message}
          hint="Letters, digits, spaces, - _ ."
        />
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={() => onOpenChange(false)}>
            Cancel
          </button>
          <button type="submit" className="btn btn-primary" disabled={!name.trim() || create.isPending}>
            Create project
          </button>
        </div>
      </form>
    </Dialog>
  );
}
