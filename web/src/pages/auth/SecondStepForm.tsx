import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { secondStep, secondStepByPasskey } from "../../api/account-sign-in";
import type { MfaRequired, SecondStep } from "../../api/account-types";
import { Problem, Submit } from "../../parts/Act";
import { Field, focusHere } from "../../ui/Field";
import { useEnter } from "./useEnter";

const OTHER: Record<SecondStep, string> = {
  totp: "Use the authenticator app",
  passkey: "Use your passkey instead",
  recovery: "Use a recovery code",
};
const WRONG: Record<SecondStep, string> = {
  totp: "That code is wrong, or the sign-in took longer than five minutes. Codes change every 30 seconds.",
  passkey: "The passkey was not accepted, or the sign-in took longer than five minutes.",
  recovery: "That code is wrong or was used before, or the sign-in took longer than five minutes.",
};

export function SecondStepForm({ asked, next, onAgain }: { asked: MfaRequired; next?: string; onAgain: () => void }) {
  const methods = (["totp", "passkey", "recovery"] as const).filter((one) => asked.methods.includes(one));
  const [method, setMethod] = useState<SecondStep>(methods[0] ?? "totp");
  const [code, setCode] = useState("");
  const go = useEnter();
  const prove = useMutation({
    mutationFn: () => {
      if (method === "passkey") return secondStepByPasskey(asked.mfaToken);
      const text = code.trim();
      return secondStep(asked.mfaToken, method === "totp" ? { code: text.replace(/\s/g, "") } : { recoveryCode: text });
    },
    onSuccess: (answer) => go(answer, next),
  });
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        prove.mutate();
      }}
    >
      {method === "totp" && (
        <Field
          key="totp"
          big
          label="Code from your authenticator app"
          inputMode="numeric"
          autoComplete="one-time-code"
          pattern="\s*(\d\s*){6}"
          title="Six digits"
          placeholder="123456"
          required
          value={code}
          onText={setCode}
          ref={focusHere}
        />
      )}
      {method === "recovery" && (
        <Field
          key="recovery"
          big
          label="Recovery code"
          autoComplete="off"
          spellCheck={false}
          required
          value={code}
          onText={setCode}
          hint="One of the codes you kept when you turned the second step on. Each works once."
          ref={focusHere}
        />
      )}
      {method === "passkey" && <p className="text-ink2">Your browser will ask for the passkey.</p>}
      <Problem of={prove} own={{ 401: WRONG[method] }} />
      <Submit of={prove} busy="Checking…" className="btn btn-primary btn-big w-full">
        {method === "passkey" ? "Use the passkey" : "Go on"}
      </Submit>
      <div className="flex flex-wrap gap-x-4 gap-y-1">
        {methods
          .filter((one) => one !== method)
          .map((one) => (
            <button
              key={one}
              type="button"
              className="link"
              onClick={() => {
                setMethod(one);
                setCode("");
                prove.reset();
              }}
            >
              {OTHER[one]}
            </button>
          ))}
        <button type="button" className="link" onClick={onAgain}>
          Start again
        </button>
      </div>
    </form>
  );
}
