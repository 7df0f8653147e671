import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { enterSession } from "../../api/account";
import type { MfaRequired, People, SecondStep } from "../../api/account-types";
import { request } from "../../api/client";
import { forgetStart, startedFrom } from "../../api/session";
import { safePath } from "../../model/safe-path";
import { MutationButton, Problem } from "../../parts/MutationButton";
import { AuthFrame, DeadEnd, PageLoading } from "./Frame";
import { SecondStepForm } from "./SecondStepForm";

interface CallbackParams {
  /** Set if an organization requires a second factor, or with `link`. */
  second: MfaRequired | null;
  /** Name of the provider to link to the account of this e-mail address, after verification of its owner. */
  link: string | null;
  needsSetup: boolean;
  next: string;
  /** Whether this tab started the sign-in. Otherwise the link may come from another person. */
  expected: boolean;
}

/**
 * Parses the address and removes its token at once, so that neither history nor a copied link contains it. The session
 * is a cookie, set for the browser that started the sign-in; the token is for programs.
 */
function readCallback(): CallbackParams | null {
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

/** Target of a provider's sign-in: `/auth/callback#token=…&needsSetup=…` or `#mfaToken=…&methods=…[&link=…]`. */
export function Callback() {
  const [callback] = useState(readCallback);
  if (!callback)
    return (
      <DeadEnd title="Nothing to sign in with" lead="This page is the last step of signing in through a provider.">
        <Link to="/login" className="btn btn-primary">
          To the sign-in page
        </Link>
      </DeadEnd>
    );
  if (callback.second && callback.link)
    return (
      <AuthFrame
        title={`Connect ${callback.link} to your account`}
        lead={`An account with your e-mail address exists, and ${callback.link} has never signed in to it. Prove once that the account is yours.`}
      >
        <SecondStepForm mfa={callback.second} next={callback.next} onAgain={() => location.assign("/login")} />
      </AuthFrame>
    );
  if (callback.second)
    return (
      <AuthFrame title="Second step" lead="Your organization asks for one more proof that it is you.">
        <SecondStepForm mfa={callback.second} next={callback.next} onAgain={() => location.assign("/login")} />
      </AuthFrame>
    );
  return <Enter callback={callback} />;
}

function Enter({ callback }: { callback: CallbackParams }) {
  const router = useRouter();
  const client = useQueryClient();
  const me = useMutation({ mutationFn: () => request<People>("GET", "/api/me/login-bundle", { anonymous: true }) });
  const go = (bundle: People) => {
    forgetStart();
    enterSession(client, bundle);
    router.history.replace(callback.needsSetup ? "/finish-setup" : callback.next);
  };
  const once = useRef(false);
  // Deliberate: one request, also when effects run twice in development
  useEffect(() => {
    if (once.current) return;
    once.current = true;
    me.mutate(undefined, { onSuccess: (bundle) => callback.expected && go(bundle) });
  });
  if (me.error)
    return (
      <AuthFrame title="Signing in did not work">
        <div className="space-y-4">
          <Problem of={me} own={{ 401: "The sign-in is over already. Start again." }} />
          <div className="flex gap-2">
            <MutationButton of={me} className="btn" onClick={() => me.mutate(undefined, { onSuccess: go })}>
              Try again
            </MutationButton>
            <Link to="/login" className="btn btn-primary">
              To the sign-in page
            </Link>
          </div>
        </div>
      </AuthFrame>
    );
  if (!me.data || callback.expected) return <PageLoading words="Signing in…" />;
  // This tab did not start the sign-in: the link may sign the user in to another person's account, so confirm first.
  return (
    <AuthFrame
      title={`Go on as ${me.data.user.email}?`}
      lead="This sign-in was not started in this window. Go on only if this is your account."
    >
      <div className="flex gap-2">
        <Link to="/login" className="btn btn-big flex-1">
          No
        </Link>
        <button type="button" className="btn btn-primary btn-big flex-1" onClick={() => me.data && go(me.data)}>
          Go on
        </button>
      </div>
    </AuthFrame>
  );
}
