// Messages for the error codes of a sign-in through a provider.

/** Messages by the error code in `?error=` of the sign-in page. */
const OAUTH: Record<string, string> = {
  oauth_no_email:
    "The provider did not tell an e-mail address. Make one visible to this application there, then try again.",
  oauth_email_unverified: "The provider has not verified your e-mail address. Verify it there, then try again.",
  invite_required: "There is no account for this address yet. Ask an owner or admin to invite you.",
  oauth_denied: "The provider refused, or you cancelled there.",
  oauth_state: "The sign-in took too long, or was started in another window. Try again.",
  oauth_link_refused:
    "An account with your e-mail address exists, and there is no way to prove that it is yours: it has no password, and this server sends no mail. Tell your admin.",
  oauth_not_fresh:
    "The provider did not have you sign in again, or does not say when you did. Nothing was confirmed. Try again; if it stays, tell your admin.",
  oauth_other_person: "The provider signed in somebody else than the person of this account. Nothing was confirmed.",
  oauth_failed:
    "The provider could not be reached, or its answer made no sense. Try again; if it stays, tell your admin.",
};
export function oauthErrorWords(code: string | undefined): string | null {
  if (!code) return null;
  return OAUTH[code] ?? "Signing in through the provider did not work. Try again.";
}
