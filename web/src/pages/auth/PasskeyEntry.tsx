import { useMutation } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { loginByPasskey } from "../../api/account-sign-in";
import { Act, Problem } from "../../parts/Act";
import { useEnter } from "./useEnter";

/** Signing in with a passkey alone: the browser lists those it has for this site. */
export function PasskeyEntry({ next }: { next?: string }) {
  const go = useEnter();
  const enter = useMutation({ mutationFn: loginByPasskey, onSuccess: (answer) => go(answer, next) });
  return (
    <div className="space-y-2">
      <Act of={enter} busy="Waiting for the passkey…" className="btn btn-big w-full" onClick={() => enter.mutate()}>
        <KeyRound size={15} aria-hidden /> Use a passkey
      </Act>
      <Problem of={enter} own={{ 401: "No account here knows this passkey." }} />
    </div>
  );
}
