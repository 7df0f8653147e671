import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { providersQuery } from "../../api/account-sign-in";
import type { MfaRequired, Providers } from "../../api/account-types";
import { passkeysSupported } from "../../api/passkeys";
import { oauthErrorWords } from "../../model/oauth-words";
import { AuthFrame, Note } from "./Frame";
import { PasskeyEntry } from "./PasskeyEntry";
import { PasswordForm } from "./PasswordForm";
import { ProviderLinks } from "./ProviderLinks";
import { SecondStepForm } from "./SecondStepForm";

const route = getRouteApi("/login");

/** Fallback if the server does not return its sign-in methods. */
const UNKNOWN: Providers = { password: true, registration: false, providers: [] };

export function Login() {
  const { next, error } = route.useSearch();
  const query = useQuery(providersQuery);
  const ways = query.data ?? (query.failureCount > 0 ? UNKNOWN : null);
  const [second, setSecond] = useState<MfaRequired | null>(null);
  if (second)
    return (
      <AuthFrame title="Second step" lead="Your account asks for one more proof that it is you.">
        <SecondStepForm mfa={second} next={next} onAgain={() => setSecond(null)} />
      </AuthFrame>
    );
  const failed = oauthErrorWords(error);
  return (
    <AuthFrame
      title="Sign in"
      lead="Welcome back."
      foot={
        ways?.registration && (
          <>
            New here?{" "}
            <Link to="/register" className="link">
              Create an account
            </Link>
          </>
        )
      }
    >
      <div className="space-y-4">
        {failed && (
          <div role="alert">
            <Note>{failed}</Note>
          </div>
        )}
        {!ways && <div className="skeleton late h-40" aria-busy="true" />}
        {ways && ways.providers.length > 0 && <ProviderLinks providers={ways.providers} next={next} />}
        {ways && ways.providers.length > 0 && ways.password && <Or />}
        {ways?.password && <PasswordForm next={next} onSecond={setSecond} />}
        {ways?.passkeys && passkeysSupported() && <PasskeyEntry next={next} />}
        {ways && !ways.password && ways.providers.length === 0 && (
          <Note>Signing in with a password is turned off, and no other way is set up. Tell your admin.</Note>
        )}
      </div>
    </AuthFrame>
  );
}

function Or() {
  return (
    <div className="flex items-center gap-3 text-dense text-ink2">
      <span className="h-px flex-1 bg-line" />
      or
      <span className="h-px flex-1 bg-line" />
    </div>
  );
}
