import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { resetPassword, resetQuery } from "../../api/account-sign-in";
import { ApiError } from "../../api/client";
import { forgetLinkToken } from "../../api/link-token";
import { Problem, Submit } from "../../parts/MutationButton";
import { ErrorState } from "../../parts/states";
import { Field } from "../../ui/Field";
import { Switch } from "../../ui/Switch";
import { AuthFrame, DeadEnd, PageLoading } from "./Frame";
import { useLeave } from "./useEnter";

const route = getRouteApi("/reset-password");

export function Reset() {
  const { linkToken: token } = route.useRouteContext();
  const query = useQuery({ ...resetQuery(token), enabled: token !== "" });
  const isInvalid = query.error instanceof ApiError && [400, 404, 410].includes(query.error.status);
  if (!token || isInvalid || query.data?.valid === false)
    return (
      <DeadEnd
        title="This link does not work any more"
        lead="Links to choose a new password work once, and for one hour. Ask for another one."
      >
        <Link to="/forgot-password" className="btn btn-primary">
          Send another link
        </Link>
        <Link to="/login" className="btn">
          To the sign-in page
        </Link>
      </DeadEnd>
    );
  if (query.isError)
    return (
      <AuthFrame title="Choose a new password">
        <div className="-m-4">
          <ErrorState error={query.error} retry={() => query.refetch()} />
        </div>
      </AuthFrame>
    );
  if (!query.data) return <PageLoading words="Looking at the link…" />;
  return <Form token={token} email={query.data.email} />;
}

function Form({ token, email }: { token: string; email?: string }) {
  const [password, setPassword] = useState("");
  const [ends, setEnds] = useState(false);
  const leave = useLeave();
  const reset = useMutation({
    mutationFn: () => resetPassword(token, password, ends),
    onSuccess: () => {
      forgetLinkToken("/reset-password");
      leave();
    },
  });
  if (reset.isSuccess)
    return (
      <DeadEnd
        title="Your new password is set"
        lead={
          <p role="status">
            Every device that was signed in to this account is signed out.
            {ends ? " Its access tokens have ended." : " Access tokens still work."} Passkeys still work: look at them
            on your account page, and remove those that you do not know.
          </p>
        }
      >
        <Link to="/login" className="btn btn-primary">
          Sign in
        </Link>
      </DeadEnd>
    );
  return (
    <AuthFrame title="Choose a new password" lead={email ? `For ${email}.` : undefined}>
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          reset.mutate();
        }}
      >
        {/* Password managers store the new password under this name. */}
        <input type="text" autoComplete="username" value={email ?? ""} readOnly hidden />
        <Field
          big
          label="New password"
          type="password"
          autoComplete="new-password"
          required
          minLength={8}
          value={password}
          onText={setPassword}
          hint="At least 8 characters."
        />
        <Switch
          label="End access tokens too"
          hint="Right when somebody else may have been in your account. Scripts and command lines that use one stop."
          checked={ends}
          onChange={setEnds}
        />
        <Problem of={reset} />
        <Submit of={reset} busy="Saving…" className="btn btn-primary btn-big w-full">
          Set the password
        </Submit>
      </form>
    </AuthFrame>
  );
}
