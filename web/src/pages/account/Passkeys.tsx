import { useMutation, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Pencil } from "lucide-react";
import { useState } from "react";
import { addPasskey, removePasskey, renamePasskey, twoFactorQuery } from "../../api/account-me";
import type { Passkey } from "../../api/account-types";
import { NO_PASSKEYS, passkeysSupported } from "../../api/passkeys";
import { showToast } from "../../model/toasts";
import { Ago } from "../../parts/Ago";
import { Problem, Submit } from "../../parts/MutationButton";
import { Dialog } from "../../ui/Dialog";
import { Field, focusHere } from "../../ui/Field";
import { PasswordPrompt } from "./PasswordPrompt";
import { RecoveryCodes } from "./RecoveryCodes";

export function Passkeys({ passkeys }: { passkeys: Passkey[] }) {
  const [adding, setAdding] = useState(false);
  const works = passkeysSupported();
  return (
    <>
      <p className="mb-3 text-ink2">
        A key in your device, opened with a finger, a face or its PIN. It cannot be guessed or phished, and works
        instead of the password, or as its second step.
      </p>
      {passkeys.length > 0 && (
        <ul className="mb-3 divide-y divide-line rounded-control border border-line">
          {passkeys.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} />
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

function useRefresh(): () => void {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: twoFactorQuery.queryKey });
}

function PasskeyRow({ passkey }: { passkey: Passkey }) {
  const [step, setStep] = useState<"closed" | "rename" | "remove">("closed");
  const close = () => setStep("closed");
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
      <button
        type="button"
        className="btn btn-ghost"
        onClick={() => setStep("rename")}
        aria-label={`Rename the passkey ${passkey.name}`}
      >
        <Pencil size={14} aria-hidden />
      </button>
      <button
        type="button"
        className="btn"
        onClick={() => setStep("remove")}
        aria-label={`Remove the passkey ${passkey.name}`}
      >
        Remove
      </button>
      {step === "rename" && <Rename passkey={passkey} close={close} />}
      {step === "remove" && <Remove passkey={passkey} close={close} />}
    </li>
  );
}

function Rename({ passkey, close }: { passkey: Passkey; close: () => void }) {
  const [name, setName] = useState(passkey.name);
  const refresh = useRefresh();
  const rename = useMutation({
    mutationFn: () => renamePasskey(passkey.id, name.trim()),
    onSuccess: () => {
      close();
      refresh();
    },
  });
  return (
    <Dialog open onOpenChange={(open) => !open && close()} title={`Rename ${passkey.name}`}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          rename.mutate();
        }}
      >
        <Field big label="Name" required maxLength={100} value={name} onText={setName} ref={focusHere} />
        <Problem of={rename} />
        <div className="flex justify-end gap-2">
          <button type="button" className="btn" onClick={close}>
            Cancel
          </button>
          <Submit of={rename}>Rename</Submit>
        </div>
      </form>
    </Dialog>
  );
}

function Remove({ passkey, close }: { passkey: Passkey; close: () => void }) {
  const refresh = useRefresh();
  const remove = useMutation({
    mutationFn: (password: string) => removePasskey(passkey.id, password),
    onSuccess: () => {
      close();
      refresh();
      showToast(`Passkey ${passkey.name} removed`);
    },
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && close()}
      title={`Remove ${passkey.name}?`}
      description="It will not sign you in any more. Delete it on the device too, so that it is not offered there."
    >
      <PasswordPrompt
        of={remove}
        label="Remove the passkey"
        danger
        onCancel={close}
        onPassword={(text) => remove.mutate(text)}
      />
    </Dialog>
  );
}

function Add({ close }: { close: () => void }) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const refresh = useRefresh();
  const add = useMutation({
    mutationFn: () => addPasskey(name.trim(), password),
    onSuccess: ({ recoveryCodes }) => {
      refresh();
      showToast("Passkey added");
      if (!recoveryCodes?.length) close();
    },
  });
  const codes = add.data?.recoveryCodes;
  if (codes?.length)
    return (
      // Only the dialog's button closes it: the codes are shown once.
      <Dialog open held onOpenChange={() => {}} title="Keep your recovery codes">
        <RecoveryCodes codes={codes} onKept={close} />
      </Dialog>
    );
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
        <Problem of={add} own={{ 403: "The password is wrong." }} />
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
