import { useMutation } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { loginByPasskey } from "../../api/account-sign-in";
import { MutationButton, Problem, Submit } from "../../parts/MutationButton";
import { Field } from "../../ui/Field";
import { useEnter } from "./useEnter";

/** Sign-in with a passkey: the browser lists its passkeys. Some security keys need the account's e-mail address. */
export function PasskeyEntry({ next }: { next?: string }) {
  const [email, setEmail] = useState("");
  const go = useEnter();
  const enter = useMutation({ mutationFn: loginByPasskey, onSuccess: (answer) => go(answer, next) });
  return (
    <div className="space-y-2">
      <MutationButton
        of={enter}
        busy="Waiting for the passkey…"
        className="btn btn-big w-full"
        onClick={() => enter.mutate("")}
      >
        <KeyRound size={15} aria-hidden /> Use a passkey
      </MutationButton>
      <Problem of={enter} own={{ 401: "No account here knows this passkey." }} />
      <details>
        <summary className="text-ink2">The passkey is on a security key</summary>
        <form
          className="mt-2 space-y-2"
          onSubmit={(event) => {
            event.preventDefault();
            enter.mutate(email.trim());
          }}
        >
          <Field label="Account" type="email" placeholder="ada@example.com" required value={email} onText={setEmail} />
          <Submit of={enter} className="btn w-full">
            Use the security key
          </Submit>
        </form>
      </details>
    </div>
  );
}
