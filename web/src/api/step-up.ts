// Step-up: repeated verification before changes of credentials and roles and before deletion (docs/operate/accounts.md,
// "Step-up").
import type { Challenge } from "./account-types";
import { request } from "./client";
import { requestAssertion } from "./passkeys";

export interface StepUpWays {
  methods: ("password" | "totp" | "passkey")[];
  /** Token for verification by a code or a passkey. */
  mfaToken?: string | null;
  /** Ids of the providers that accept a repeated sign-in. */
  providers: string[];
}

export function stepUpWays(): Promise<StepUpWays> {
  return request("POST", "/api/me/step-up/start", { body: {} });
}
export function proveByPassword(password: string): Promise<unknown> {
  return request("POST", "/api/me/step-up", { body: { password }, challenge: true });
}
export function proveByCode(mfaToken: string, code: string): Promise<unknown> {
  return request("POST", "/api/me/step-up", { body: { mfaToken, code }, challenge: true });
}
export async function proveByPasskey(mfaToken: string): Promise<unknown> {
  const { challengeId, options } = await request<Challenge<PublicKeyCredentialRequestOptionsJSON>>(
    "POST",
    "/api/login/mfa/passkey/start",
    { body: { mfaToken }, anonymous: true },
  );
  const passkey = await requestAssertion(options);
  return request("POST", "/api/me/step-up", { body: { mfaToken, challengeId, passkey }, challenge: true });
}
