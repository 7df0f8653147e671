import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { bundleQuery } from "../../api/account";
import { acceptAsExisting, acceptInvitation, invitationQuery, providersQuery } from "../../api/account-sign-in";
import type { Invitation } from "../../api/account-types";
import { ApiError } from "../../api/client";
import { forgetLinkToken } from "../../api/link-token";
import { hasSession } from "../../api/session";
import { ROLE_WORDS } from "../../model/role-words";
import { asRole } from "../../model/roles";
import { showToast } from "../../model/toasts";
import { MutationButton, Problem, Submit } from "../../parts/MutationButton";
import { ErrorState } from "../../parts/states";
import { Field } from "../../ui/Field";
import { AuthFrame, DeadEnd, Note, PageLoading } from "./Frame";
import { ProviderLinks } from "./ProviderLinks";
import { useEnter, useLeave } from "./useEnter";

const route = getRouteApi("/accept-invitation");
/** Path to return to after a sign-in; the link's secret is stored in this tab. */
const HERE = "/accept-invitation";

export function AcceptInvitation() {
  const { linkToken: token } = route.useRouteContext();
  const query = useQuery({ ...invitationQuery(token), enabled: token !== "" });
  const [signedIn, setSignedIn] = useState(hasSession);
  const me = useQuery({ ...bundleQuery, enabled: signedIn });
  const leave = useLeave();
  const status = query.error instanceof ApiError ? query.error.status : 0;
  if (!token || status === 404 || status === 400)
    return (
      <DeadEnd
        title="No such invitation"
        lead="The link is not complete, or the invitation was taken back. Open the link from the e-mail again, or ask for a new invitation."
      >
        <Home />
      </DeadEnd>
    );
  if (status === 410)
    return (
      <DeadEnd
        title="This invitation is over"
        lead="Invitations work once, and for seven days. If you have accepted it already, sign in; otherwise ask for a new one."
      >
        <Home />
      </DeadEnd>
    );
  if (query.isError)
    return (
      <AuthFrame title="Invitation">
        <div className="-m-4">
          <ErrorState error={query.error} retry={() => query.refetch()} />
        </div>
      </AuthFrame>
    );
  if (!query.data || (signedIn && me.isPending)) return <PageLoading words="Looking at the invitation…" />;
  const invitation = query.data;
  const user = signedIn && hasSession() ? me.data?.user : undefined;
  const same = user?.email.toLowerCase() === invitation.email.toLowerCase();
  return (
    <AuthFrame title={`Join ${invitation.organizationName}`} lead={<Lead invitation={invitation} />}>
      {user && same && <JoinNow token={token} name={user.name || user.email} />}
      {user && !same && (
        <div className="space-y-4">
          <Note>
            You are signed in as {user.email}, but this invitation is for {invitation.email}.
          </Note>
          <button
            type="button"
            className="btn btn-primary h-auto! min-h-9 w-full whitespace-normal! py-1.5! [overflow-wrap:anywhere]"
            onClick={() => {
              leave();
              setSignedIn(false);
            }}
          >
            Sign out and go on as {invitation.email}
          </button>
        </div>
      )}
      {!user && invitation.existsAsUser && (
        <div className="space-y-4">
          <p className="text-ink2">There is an account for {invitation.email} already. Sign in with it to accept.</p>
          <Link to="/login" search={{ next: HERE }} className="btn btn-primary btn-big w-full">
            Sign in to accept
          </Link>
        </div>
      )}
      {!user && !invitation.existsAsUser && <NewAccount token={token} invitation={invitation} />}
    </AuthFrame>
  );
}

function Home() {
  return (
    <Link to="/" className="btn btn-primary">
      To Tidewatch
    </Link>
  );
}

function Lead({ invitation }: { invitation: Invitation }) {
  const role = ROLE_WORDS[asRole(invitation.role)];
  return (
    <p>
      {invitation.inviterName} invites {invitation.email} as <strong className="text-ink">{role.label}</strong>.{" "}
      {role.means}
    </p>
  );
}

function JoinNow({ token, name }: { token: string; name: string }) {
  const router = useRouter();
  const client = useQueryClient();
  const accept = useMutation({
    mutationFn: () => acceptAsExisting(token),
    onSuccess: () => {
      forgetLinkToken(HERE);
      client.removeQueries({ queryKey: bundleQuery.queryKey });
      showToast("You have joined");
      router.history.push("/");
    },
  });
  return (
    <div className="space-y-4">
      <Problem
        of={accept}
        own={{ 403: "This invitation is for another e-mail address than the one of your account." }}
      />
      <MutationButton
        of={accept}
        busy="Joining…"
        className="btn btn-primary btn-big w-full"
        onClick={() => accept.mutate()}
      >
        Accept as {name}
      </MutationButton>
    </div>
  );
}

function NewAccount({ token, invitation }: { token: string; invitation: Invitation }) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const ways = useQuery(providersQuery).data;
  const go = useEnter();
  const accept = useMutation({
    mutationFn: () => acceptInvitation(token, { name: name.trim(), password }),
    onSuccess: (answer) => {
      forgetLinkToken(HERE);
      go(answer);
    },
  });
  const taken = accept.error instanceof ApiError && accept.error.status === 409;
  const providers = ways?.providers ?? [];
  return (
    <div className="space-y-4">
      {providers.length > 0 && <ProviderLinks providers={providers} next={HERE} />}
      {ways?.password !== false && (
        <form
          className="space-y-4"
          onSubmit={(event) => {
            event.preventDefault();
            accept.mutate();
          }}
        >
          <Field
            big
            label="E-mail"
            type="email"
            autoComplete="username"
            readOnly
            value={invitation.email}
            onText={() => {}}
          />
          <Field big label="Your name" autoComplete="name" required value={name} onText={setName} />
          <Field
            big
            label="Password"
            type="password"
            autoComplete="new-password"
            required
            minLength={8}
            value={password}
            onText={setPassword}
            hint="At least 8 characters."
          />
          <Problem of={accept} own={{ 409: "There is an account for this address already." }} />
          {taken && (
            <p>
              <Link to="/login" search={{ next: HERE }} className="link">
                Sign in to accept
              </Link>
            </p>
          )}
          <Submit of={accept} busy="Creating…" className="btn btn-primary btn-big w-full">
            Create account and join
          </Submit>
        </form>
      )}
    </div>
  );
}
