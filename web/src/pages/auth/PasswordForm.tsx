import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { login } from "../../api/account-sign-in";
import type { MfaRequired } from "../../api/account-types";
import { Problem, Submit } from "../../parts/MutationButton";
import { Field } from "../../ui/Field";
import { useEnter } from "./useEnter";

export function PasswordForm({ next, onSecond }: { next?: string; onSecond: (mfa: MfaRequired) => void }) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const go = useEnter();
  const enter = useMutation({
    mutationFn: () => login(email.trim(), password),
    onSuccess: (answer) => ("mfaRequired" in answer ? onSecond(answer) : go(answer, next)),
  });
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        enter.mutate();
      }}
    >
      <Field big label="E-mail" type="email" autoComplete="username" required value={email} onText={setEmail} />
      <Field
        big
        label="Password"
        type="password"
        autoComplete="current-password"
        required
        value={password}
        onText={setPassword}
      />
      <Problem
        of={enter}
        own={{ 401: "E-mail or password is wrong.", 403: "Signing in with a password is turned off on this server." }}
      />
      <Submit of={enter} busy="Signing in…" className="btn btn-primary btn-big w-full">
        Sign in
      </Submit>
      <p>
        <Link to="/forgot-password" className="link">
          Forgot your password?
        </Link>
      </p>
    </form>
  );
}
