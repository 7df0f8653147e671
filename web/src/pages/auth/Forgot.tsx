import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { forgotPassword } from "../../api/account-sign-in";
import { CommandBlock } from "../../parts/Command";
import { Problem, Submit } from "../../parts/MutationButton";
import { Field } from "../../ui/Field";
import { AuthFrame } from "./Frame";

export function Forgot() {
  const [email, setEmail] = useState("");
  const reset = useMutation({ mutationFn: () => forgotPassword(email.trim()) });
  const back = (
    <Link to="/login" className="link">
      Back to the sign-in page
    </Link>
  );
  if (reset.data && !reset.data.hasMailServer)
    return (
      <AuthFrame
        title="This server cannot send mails"
        lead={
          <p role="status">
            It has no mail server, so no link is on its way. Its operator sets another password for{" "}
            <strong className="text-ink">{email.trim()}</strong>, and can set a mail server (SMTP_HOST).
          </p>
        }
        foot={back}
      >
        <CommandBlock label="On the server" code="tidewatch admin reset-password --email ADDRESS" />
      </AuthFrame>
    );
  if (reset.isSuccess)
    return (
      <AuthFrame
        title="Look into your mailbox"
        lead={
          <p role="status">
            If there is an account for <strong className="text-ink">{email.trim()}</strong>, a link is on its way. It
            works for one hour. At most one such mail is sent per hour, so look for an earlier one too.
          </p>
        }
        foot={back}
      />
    );
  return (
    <AuthFrame title="Forgot your password?" lead="We send a link with which you choose a new one." foot={back}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          reset.mutate();
        }}
      >
        <Field big label="E-mail" type="email" autoComplete="username" required value={email} onText={setEmail} />
        <Problem of={reset} />
        <Submit of={reset} busy="Sending…" className="btn btn-primary btn-big w-full">
          Send the link
        </Submit>
      </form>
    </AuthFrame>
  );
}
