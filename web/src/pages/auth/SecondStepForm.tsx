import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { mailLinkCode, type SecondStepProof, secondStep, secondStepByPasskey } from "../../api/account-sign-in";
import type { MfaRequired, SecondStep } from "../../api/account-types";
import { Problem, Submit } from "../../parts/MutationButton";
import { Field, focusHere } from "../../ui/Field";
import { useEnter } from "./useEnter";

const OTHER: Record<SecondStep, string> = {
  totp: "Use the authenticator app",
  passkey: "Use your passkey instead",
  recovery: "Use a recovery code",
  password: "Use the password",
  email: "Get a code by e-mail",
};
const WRONG: Record<SecondStep, string> = {
  totp: "That code is wrong, or the sign-in took longer than five minutes. Codes change every 30 seconds.",
  passkey: "The passkey was not accepted, or the sign-in took longer than five minutes.",
  recovery: "That code is wrong or was used before, or the sign-in took longer than five minutes.",
  password: "That is not the password of the account, or the sign-in took longer than ten minutes.",
  email: "That code is wrong, or the sign-in took longer than ten minutes.",
};
const TOO_LATE = "The sign-in took longer than ten minutes. Start again.";
const METHODS = ["totp", "passkey", "recovery", "password", "email"] as const;

/** Converts the typed text to the request body. */
function proofOf(method: Exclude<SecondStep, "passkey">, text: string): SecondStepProof {
  if (method === "password") return { password: text };
  if (method === "recovery") return { recoveryCode: text.trim() };
  const code = text.replace(/\s/g, "");
  return method === "email" ? { mailCode: code } : { code };
}

export function SecondStepForm({ mfa, next, onAgain }: { mfa: MfaRequired; next?: string; onAgain: () => void }) {
  const methods = METHODS.filter((one) => mfa.methods.includes(one));
  const [method, setMethod] = useState<SecondStep>(methods[0] ?? "totp");
  const [code, setCode] = useState("");
  const go = useEnter();
  const mail = useMutation({ mutationFn: () => mailLinkCode(mfa.mfaToken) });
  const isToMail = method === "email" && !mail.isSuccess;
  const prove = useMutation({
    mutationFn: () =>
      method === "passkey" ? secondStepByPasskey(mfa.mfaToken) : secondStep(mfa.mfaToken, proofOf(method, code)),
    onSuccess: (answer) => go(answer, next),
  });
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (isToMail) mail.mutate();
        else prove.mutate();
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
      {method === "password" && (
        <Field
          key="password"
          big
          label="Password of the account"
          type="password"
          autoComplete="current-password"
          required
          value={code}
          onText={setCode}
          ref={focusHere}
        />
      )}
      {isToMail && <p className="text-ink2">A code is sent to the e-mail address of the account.</p>}
      {method === "email" && !isToMail && (
        <Field
          key="email"
          big
          label="Code from the e-mail"
          inputMode="numeric"
          autoComplete="one-time-code"
          pattern="\s*(\d\s*){8}"
          title="Eight digits"
          required
          value={code}
          onText={setCode}
          hint="It is good for ten minutes, in this window."
          ref={focusHere}
        />
      )}
      {method === "passkey" && <p className="text-ink2">Your browser will ask for the passkey.</p>}
      <Problem of={isToMail ? mail : prove} own={{ 401: isToMail ? TOO_LATE : WRONG[method] }} />
      <Submit
        of={isToMail ? mail : prove}
        busy={isToMail ? "Sending…" : "Checking…"}
        className="btn btn-primary btn-big w-full"
      >
        {isToMail ? "Send the code" : method === "passkey" ? "Use the passkey" : "Go on"}
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
