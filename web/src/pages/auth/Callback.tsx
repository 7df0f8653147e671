import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { enterSession } from "../../api/account";
import type { MfaRequired, People, SecondStep } from "../../api/account-types";
import { request } from "../../api/client";
import { forgetStart, startedFrom } from "../../api/session";
import { safePath } from "../../model/safe-path";
import { MutationButton, Problem } from "../../parts/MutationButton";
import { AuthFrame, DeadEnd, Waiting } from "./Frame";
import { SecondStepForm } from "./SecondStepForm";

interface Arrival {
  /** The provider asked for one factor, and an organization asks for two; or `link`. */
  second: MfaRequired | null;
  /** A provider that is to be linked to the account of this address, once the account is proved. */
  link: string | null;
  needsSetup: boolean;
  next: string;
  /** This tab left for a provider: nobody else can have sent the link. */
  expected: boolean;
}

/**
 * The session is a cookie by now, set for the browser that began the sign-in. The token of the address is for programs:
 * it is taken out at once, so that neither history nor a copied link holds it.
 */
function arrival(): Arrival | null {
  const words = new URLSearchParams(location.hash.slice(1));
  const mfaToken = words.get("mfaToken");
  const methods = (words.get("methods") ?? "").split(",") as SecondStep[];
  const second: MfaRequired | null = mfaToken ? { mfaRequired: true, mfaToken, methods } : null;
  const started = startedFrom();
  if (!words.get("token") && !second) return null;
  history.replaceState(history.state, "", location.pathname);
  const next = safePath(words.get("redirect")) ?? safePath(started) ?? "/";
  return {
    second,
    link: words.get("link"),
    needsSetup: words.get("needsSetup") === "true",
    next,
    expected: started !== null,
  };
}

/** Where a provider's sign-in ends: `/auth/callback#token=…&needsSetup=…`, or `#mfaToken=…&methods=…[&link=…]`. */
export function Callback() {
  const [come] = useState(arrival);
  if (!come)
    return (
      <DeadEnd title="Nothing to sign in with" lead="This page is the last step of signing in through a provider.">
        <Link to="/login" className="btn btn-primary">
          To the sign-in page
        </Link>
      </DeadEnd>
    );
  if (come.second && come.link)
    return (
      <AuthFrame
        title={`Connect ${come.link} to your account`}
        lead={`An account with your e-mail address exists, and ${come.link} has never signed in to it. Prove once that the account is yours.`}
      >
        <SecondStepForm asked={come.second} next={come.next} onAgain={() => location.assign("/login")} />
      </AuthFrame>
    );
  if (come.second)
    return (
      <AuthFrame title="Second step" lead="Your organisation asks for one more proof that it is you.">
        <SecondStepForm asked={come.second} next={come.next} onAgain={() => location.assign("/login")} />
      </AuthFrame>
    );
  return <Enter come={come} />;
}

function Enter({ come }: { come: Arrival }) {
  const router = useRouter();
  const client = useQueryClient();
  const look = useMutation({ mutationFn: () => request<People>("GET", "/api/me/login-bundle", { anonymous: true }) });
  const go = (bundle: People) => {
    forgetStart();
    enterSession(client, bundle);
    router.history.replace(come.needsSetup ? "/finish-setup" : come.next);
  };
  const once = useRef(false);
  // Deliberate: one look, also when effects run twice in development
  useEffect(() => {
    if (once.current) return;
    once.current = true;
    look.mutate(undefined, { onSuccess: (bundle) => come.expected && go(bundle) });
  });
  if (look.error)
    return (
      <AuthFrame title="Signing in did not work">
        <div className="space-y-4">
          <Problem of={look} own={{ 401: "The sign-in is over already. Start again." }} />
          <div className="flex gap-2">
            <MutationButton of={look} className="btn" onClick={() => look.mutate(undefined, { onSuccess: go })}>
              Try again
            </MutationButton>
            <Link to="/login" className="btn btn-primary">
              To the sign-in page
            </Link>
          </div>
        </div>
      </AuthFrame>
    );
  if (!look.data || come.expected) return <Waiting words="Signing in…" />;
  // The link came from somewhere else: signing in unasked could put someone into a stranger's account.
  return (
    <AuthFrame
      title={`Go on as ${look.data.user.email}?`}
      lead="This sign-in was not started in this window. Go on only if this is your account."
    >
      <div className="flex gap-2">
        <Link to="/login" className="btn btn-big flex-1">
          No
        </Link>
        <button type="button" className="btn btn-primary btn-big flex-1" onClick={() => look.data && go(look.data)}>
          Go on
        </button>
      </div>
    </AuthFrame>
  );
}
