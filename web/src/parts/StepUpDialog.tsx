// The step-up dialog, which verifies the user again.
import { useMutation, useQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { providersQuery } from "../api/account-sign-in";
import { proveByCode, proveByPasskey, proveByPassword, type StepUpWays, stepUpWays } from "../api/step-up";
import { Dialog } from "../ui/Dialog";
import { Field, focusHere } from "../ui/Field";
import { MutationButton, Problem, Submit } from "./MutationButton";

export function StepUpDialog({ onEnd }: { onEnd: (isProved: boolean) => void }) {
  return (
    <Dialog
      open
      onOpenChange={(next) => !next && onEnd(false)}
      title="Confirm that it is you"
      description="This is asked before credentials and roles change and before something is deleted. For five minutes after it, it is not asked again."
    >
      <Ways onProved={() => onEnd(true)} onCancel={() => onEnd(false)} />
    </Dialog>
  );
}

function Ways({ onProved, onCancel }: { onProved: () => void; onCancel: () => void }) {
  const ways = useQuery({ queryKey: ["step-up"], queryFn: stepUpWays, staleTime: 0, gcTime: 0, retry: false });
  if (ways.isError) return <Problem of={ways} />;
  if (!ways.data) return <p role="status">Looking up how you sign in…</p>;
  return <Choose ways={ways.data} onProved={onProved} onCancel={onCancel} />;
}

function Choose({ ways, onProved, onCancel }: { ways: StepUpWays; onProved: () => void; onCancel: () => void }) {
  const has = (method: StepUpWays["methods"][number]) => ways.methods.includes(method);
  return (
    <div className="space-y-4">
      {has("passkey") && ways.mfaToken && <ByPasskey mfaToken={ways.mfaToken} onProved={onProved} />}
      {has("password") && (
        <Typed
          label="Your password"
          type="password"
          autoComplete="current-password"
          prove={proveByPassword}
          onProved={onProved}
          focus={!has("passkey")}
        />
      )}
      {has("totp") && ways.mfaToken && (
        <Typed
          label="Code of your authenticator"
          type="text"
          autoComplete="one-time-code"
          prove={(code) => proveByCode(ways.mfaToken ?? "", code)}
          onProved={onProved}
          focus={!has("passkey") && !has("password")}
        />
      )}
      <Providers ids={ways.providers} />
      {ways.methods.length + ways.providers.length === 0 && (
        <p>Your account has nothing to confirm it with: no password, second step or provider. Tell your admin.</p>
      )}
      <div className="flex justify-end">
        <button type="button" className="btn" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </div>
  );
}

function ByPasskey({ mfaToken, onProved }: { mfaToken: string; onProved: () => void }) {
  const prove = useMutation({ mutationFn: () => proveByPasskey(mfaToken), onSuccess: onProved });
  return (
    <div className="space-y-2">
      <MutationButton
        of={prove}
        busy="Waiting for the device…"
        className="btn btn-primary w-full"
        onClick={() => prove.mutate()}
      >
        <KeyRound size={14} aria-hidden /> Use a passkey
      </MutationButton>
      <Problem of={prove} />
    </div>
  );
}

function Typed({
  label,
  type,
  autoComplete,
  prove,
  onProved,
  focus,
}: {
  label: string;
  type: "password" | "text";
  autoComplete: string;
  prove: (text: string) => Promise<unknown>;
  onProved: () => void;
  focus: boolean;
}) {
  const [text, setText] = useState("");
  const proof = useMutation({ mutationFn: () => prove(text), onSuccess: onProved });
  return (
    <form
      className="space-y-2"
      onSubmit={(event) => {
        event.preventDefault();
        proof.mutate();
      }}
    >
      <div className="flex items-end gap-2">
        <div className="min-w-0 flex-1">
          <Field
            label={label}
            type={type}
            autoComplete={autoComplete}
            required
            value={text}
            onText={setText}
            ref={focus ? focusHere : undefined}
          />
        </div>
        <Submit of={proof} busy="Checking…">
          Confirm
        </Submit>
      </div>
      <Problem of={proof} own={{ 403: "That was not right." }} />
    </form>
  );
}

/** Verification by a repeated sign-in with a provider, which redirects back to this page. */
function Providers({ ids }: { ids: string[] }) {
  const known = useQuery(providersQuery).data?.providers ?? [];
  const offered = known.filter((one) => ids.includes(one.id));
  if (!offered.length) return null;
  const here = location.pathname + location.search;
  return (
    <div className="space-y-2">
      {offered.map((one) => (
        <a
          key={one.id}
          className="btn w-full"
          href={`/api/auth/start/${one.id}?fresh=true&redirect=${encodeURIComponent(here)}`}
        >
          Sign in again with {one.name}
        </a>
      ))}
      <p className="text-dense text-ink2">You come back to this page; begin there once more.</p>
    </div>
  );
}
