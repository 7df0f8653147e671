// Calls without a session: password, second step, passkey, provider, password reset, invitation.
import { queryOptions } from "@tanstack/react-query";
import type { Challenge, Invitation, MfaRequired, Providers, SignedIn } from "./account-types";
import { ApiError, request } from "./client";
import { requestAssertion } from "./passkeys";

export type LoginAnswer = SignedIn | MfaRequired;

export function login(email: string, password: string): Promise<LoginAnswer> {
  return request("POST", "/api/login", { body: { email, password }, anonymous: true });
}

export interface SecondStepProof {
  code?: string;
  recoveryCode?: string;
  password?: string;
  mailCode?: string;
  challengeId?: string;
  passkey?: unknown;
}
export function secondStep(mfaToken: string, proof: SecondStepProof): Promise<SignedIn> {
  return request("POST", "/api/login/mfa", { body: { mfaToken, ...proof }, anonymous: true });
}

/** Sends a code to the account's e-mail address, for `mailCode`. */
export function mailLinkCode(mfaToken: string): Promise<unknown> {
  return request("POST", "/api/login/mfa/mail", { body: { mfaToken }, anonymous: true });
}

type AssertionChallenge = Challenge<PublicKeyCredentialRequestOptionsJSON>;

export async function secondStepByPasskey(mfaToken: string): Promise<SignedIn> {
  const { challengeId, options } = await request<AssertionChallenge>("POST", "/api/login/mfa/passkey/start", {
    body: { mfaToken },
    anonymous: true,
  });
  return secondStep(mfaToken, { challengeId, passkey: await requestAssertion(options) });
}

/** Without an e-mail address, the browser lists its passkeys for this site. */
export async function loginByPasskey(email: string): Promise<SignedIn> {
  const { challengeId, options } = await request<AssertionChallenge>("POST", "/api/login/passkey/start", {
    body: email ? { email } : {},
    anonymous: true,
  });
  const credential = await requestAssertion(options);
  return request("POST", "/api/login/passkey/finish", { body: { challengeId, credential }, anonymous: true });
}

/** The sign-in methods of the server. A 404 means password only. */
export const providersQuery = queryOptions({
  queryKey: ["auth-providers"],
  queryFn: async (): Promise<Providers> => {
    try {
      return await request<Providers>("GET", "/api/auth/providers", { anonymous: true });
    } catch (error) {
      if (error instanceof ApiError && error.status === 404)
        return { password: true, registration: false, providers: [] };
      throw error;
    }
  },
  staleTime: 60_000,
});

export function forgotPassword(email: string): Promise<{ message: string; hasMailServer: boolean }> {
  return request("POST", "/api/forgot-password", { body: { email }, anonymous: true });
}

export const resetQuery = (token: string) =>
  queryOptions({
    queryKey: ["password-reset", token],
    queryFn: () =>
      request<{ valid: boolean; email?: string }>("GET", "/api/password-reset", { anonymous: true, linkToken: token }),
  });
export function resetPassword(
  token: string,
  password: string,
  endPersonalAccessTokens: boolean,
): Promise<{ message: string }> {
  return request("POST", "/api/password-reset", {
    body: { password, endPersonalAccessTokens },
    anonymous: true,
    linkToken: token,
  });
}

export const invitationQuery = (token: string) =>
  queryOptions({
    queryKey: ["invitation", token],
    queryFn: () => request<Invitation>("GET", "/api/invitation", { anonymous: true, linkToken: token }),
  });
export function acceptInvitation(token: string, body: { name: string; password: string }): Promise<SignedIn> {
  return request("POST", "/api/invitation/accept", { body, anonymous: true, linkToken: token });
}
export function acceptAsExisting(token: string): Promise<{ message: string }> {
  return request("POST", "/api/invitation/accept-existing", { body: {}, linkToken: token });
}

export interface FinishSetup {
  organizationName: string;
  timezone: string;
  projectName: string;
  framework: string;
  setupCode?: string;
}
export function finishSetup(body: FinishSetup): Promise<SignedIn> {
  return request("POST", "/api/auth/finish-setup", { body });
}
