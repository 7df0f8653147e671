// Confirmation dialog of irreversible actions. The most severe ones require typing the object's name.
import { type ReactNode, useRef, useState } from "react";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { type MutationState, Problem, Submit } from "./MutationButton";

export function Confirm({
  open,
  onOpenChange,
  title,
  label,
  busy,
  typed,
  of,
  own,
  onConfirm,
  children,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  /** Label of the button: the action itself, never "OK". */
  label: string;
  busy?: string;
  /** Text that must be typed to enable the button. */
  typed?: string;
  of: MutationState;
  own?: Record<number, string>;
  onConfirm: () => void;
  children: ReactNode;
}) {
  const [text, setText] = useState("");
  const form = useRef<HTMLFormElement>(null);
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={title}
      initialFocus={() => form.current?.querySelector<HTMLElement>("input, [data-cancel]")}
    >
      <form
        ref={form}
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed === undefined || text === typed) onConfirm();
        }}
      >
        <div className="space-y-2 text-ink2">{children}</div>
        {typed !== undefined && (
          <Field
            big
            label={`Type ${typed} to go on`}
            value={text}
            onText={setText}
            autoComplete="off"
            spellCheck={false}
          />
        )}
        <Problem of={of} own={own} />
        <div className="flex flex-wrap justify-end gap-2">
          <button type="button" data-cancel className="btn" onClick={() => onOpenChange(false)}>
            Cancel
          </button>
          <Submit of={of} busy={busy} className="btn btn-danger" disabled={typed !== undefined && text !== typed}>
            {label}
          </Submit>
        </div>
      </form>
    </Dialog>
  );
}
