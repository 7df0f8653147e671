import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { changePassword, type RevokeOptions, revokeSessions, twoFactorQuery } from "../../api/account-me";
import { providersQuery } from "../../api/account-sign-in";
import type { User } from "../../api/account-types";
import { showToast } from "../../model/toasts";
import { Confirm } from "../../parts/Confirm";
import { MutationButton, Problem, Submit } from "../../parts/MutationButton";
import { Section } from "../../parts/Page";
import { QueryView, SkeletonRows } from "../../parts/states";
import { Field } from "../../ui/Field";
import { Switch } from "../../ui/Switch";
import { Passkeys } from "./Passkeys";
import { Sessions } from "./Sessions";
import { Totp } from "./Totp";

export function Security({ user }: { user: User }) {
  const ways = useQuery(providersQuery).data;
  const password = ways?.password !== false;
  const state = useQuery(twoFactorQuery);
  return (
    <>
      {password && (
        <Section title="Password">
          <Password email={user.email} />
        </Section>
      )}
      <QueryView query={state} skeleton={<SkeletonRows rows={4} />}>
        {(data) => (
          <div className="space-y-4">
            <Section title="Second step">
              <Totp state={data} />
            </Section>
            {ways?.passkeys && (
              <Section title="Passkeys">
                <Passkeys passkeys={data.passkeys} />
              </Section>
            )}
          </div>
        )}
      </QueryView>
      <Section title="Where you are signed in" flush>
        <Sessions />
      </Section>
      <Section title="Sign out everywhere">
        <SignOutEverywhere />
      </Section>
    </>
  );
}

function Password({ email }: { email: string }) {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const change = useMutation({
    mutationFn: () => changePassword(current, next),
    onSuccess: () => {
      setCurrent("");
      setNext("");
      showToast("Password changed. Every other device is signed out.");
    },
  });
  return (
    <form
      className="max-w-md space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      <input type="text" autoComplete="username" value={email} readOnly hidden />
      <Field
        label="Current password"
        type="password"
        autoComplete="current-password"
        required
        value={current}
        onText={setCurrent}
      />
      <Field
        label="New password"
        type="password"
        autoComplete="new-password"
        required
        minLength={8}
        value={next}
        onText={setNext}
        hint="At least 8 characters. Every other device is signed out."
      />
      <Problem of={change} own={{ 401: "The current password is wrong." }} />
      <Submit of={change} busy="Changing…" className="btn">
        Change password
      </Submit>
    </form>
  );
}

function SignOutEverywhere() {
  const [open, setOpen] = useState(false);
  const [also, setAlso] = useState<RevokeOptions>({ endPersonalAccessTokens: false, endPasskeys: false });
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => revokeSessions(also),
    onSuccess: () => {
      setOpen(false);
      client.invalidateQueries({ queryKey: ["me"] });
      showToast("Signed out everywhere else");
    },
  });
  return (
    <>
      <p className="mb-3 text-ink2">
        Lost a device, or used one that is not yours? This ends every session of your account but this one, applications
        and command lines included.
      </p>
      <MutationButton of={revoke} className="btn btn-danger" onClick={() => setOpen(true)}>
        Sign out everywhere else
      </MutationButton>
      <Confirm
        open={open}
        onOpenChange={setOpen}
        title="Sign out everywhere else?"
        label="Sign out everywhere else"
        busy="Signing out…"
        of={revoke}
        onConfirm={() => revoke.mutate()}
      >
        <p>You stay signed in here. Everything else has to sign in again.</p>
        <p>Access tokens and passkeys are no sessions: they go on working, unless you end them too.</p>
        <Switch
          label="End my access tokens"
          checked={also.endPersonalAccessTokens}
          onChange={(on) => setAlso({ ...also, endPersonalAccessTokens: on })}
        />
        <Switch
          label="Remove my passkeys"
          checked={also.endPasskeys}
          onChange={(on) => setAlso({ ...also, endPasskeys: on })}
        />
      </Confirm>
      {!open && (
        <div className="mt-3">
          <Problem of={revoke} />
        </div>
      )}
    </>
  );
}
