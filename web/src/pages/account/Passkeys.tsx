import { useMutation, useQueryClient } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { addPasskey, removePasskey, twoFactorQuery } from "../../api/account-me";
import type { Passkey } from "../../api/account-types";
import { NO_PASSKEYS, passkeysWork } from "../../api/passkeys";
import { Act, Problem, Submit } from "../../parts/Act";
import { Ago } from "../../parts/Ago";
import { Confirm } from "../../parts/Confirm";
import { Dialog } from "../../ui/Dialog";
import { Field, focusHere } from "../../ui/Field";
import { say } from "../../ui/Toasts";

export function Passkeys({ passkeys }: { passkeys: Passkey[] }) {
  const [adding, setAdding] = useState(false);
  const works = passkeysWork();
  return (
    <>
      <p className="mb-3 text-ink2">
        A key in your device, opened with a finger, a face or its PIN. It cannot be guessed or phished, and works
        instead of the password.
      </p>
      {passkeys.length > 0 && (
        <ul className="mb-3 divide-y divide-line rounded-control border border-line">
          {passkeys.map((passkey) => (
            <One key={passkey.id} passkey={passkey} />
          ))}
        </ul>
      )}
      {works ? (
        <button type="button" className="btn" onClick={() => setAdding(true)}>
          <KeyRound size={14} aria-hidden className="text-ink2" /> Add a passkey
        </button>
      ) : (
        <p className="text-ink2">{NO_PASSKEYS}</p>
      )}
      {adding && <Add close={() => setAdding(false)} />}
    </>
  );
}

function One({ passkey }: { passkey: Passkey }) {
  const [open, setOpen] = useState(false);
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => removePasskey(passkey.id),
    onSuccess: () => {
      setOpen(false);
      client.invalidateQueries({ queryKey: twoFactorQuery.queryKey });
      say(`Passkey ${passkey.name} removed`);
    },
  });
  return (
    <li className="flex items-center gap-3 px-3 py-2">
      <KeyRound size={16} aria-hidden className="shrink-0 text-ink2" />
      <div className="min-w-0 flex-1">
        <div className="truncate font-medium">{passkey.name}</div>
        <div className="text-dense text-ink2">
          Added <Ago at={passkey.createdAt} />,{" "}
          {passkey.lastUsedAt ? (
            <>
              used <Ago at={passkey.lastUsedAt} />
            </>
          ) : (
            "never used"
          )}
        </div>
      </div>
      <Act of={remove} onClick={() => setOpen(true)} aria-label={`Remove the passkey ${passkey.name}`}>
        Remove
      </Act>
      <Confirm
        open={open}
        onOpenChange={setOpen}
        title={`Remove ${passkey.name}?`}
        label="Remove the passkey"
        of={remove}
        onConfirm={() => remove.mutate()}
      >
        <p>It will not sign you in any more. Delete it on the device too, so that it is not offered there.</p>
      </Confirm>
    </li>
  );
}

function Add({ close }: { close: () => void }) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const client = useQueryClient();
  const add = useMutation({
    mutationFn: () => addPasskey(name.trim(), password),
    onSuccess: () => {
      close();
      client.invalidateQueries({ queryKey: twoFactorQuery.queryKey });
      say("Passkey added");
    },
  });
  return (
    <Dialog open onOpenChange={(open) => !open && close()} title="Add a passkey">
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          add.mutate();
        }}
      >
        <Field
          big
          label="Name"
          required
          maxLength={100}
          placeholder="Work laptop"
          value={name}
          onText={setName}
          hint="To tell it from your other devices."
          ref={focusHere}
        />
        <Field
          big
          label="Your password"
          type="password"
          autoComplete="current-password"
          value={password}
          onText={setPassword}
          hint="Leave it empty when your account has none (sign-in through a provider)."
        />
        <Problem of={add} own={{ 401: "The password is wrong, or the passkey was not accepted." }} />
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={close}>
            Cancel
          </button>
          <Submit of={add} busy="Waiting for the device…">
            Go on
          </Submit>
        </div>
      </form>
    </Dialog>
  );
}
