// The signed-in user's account: preferences, password, second step, passkeys, tokens, grants of applications.
import { keepPreviousData, type QueryClient, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { Scope } from "../model/scopes";
import { bundleQuery } from "./account";
import type {
  AccessToken,
  AuditPage,
  Challenge,
  Grant,
  Passkey,
  Session,
  ThemePreference,
  TotpSetup,
  TwoFactor,
  User,
} from "./account-types";
import { request } from "./client";
import { createPasskey } from "./passkeys";
import { applyPreferences } from "./preferences";
import { endSession } from "./session";

export interface MeChange {
  name?: string;
  /** IANA name; empty means the browser's time zone. */
  timezone?: string;
  theme?: ThemePreference;
}

function keepUser(client: QueryClient, user: Partial<User>): void {
  client.setQueryData(bundleQuery.queryKey, (old) => old && { ...old, user: { ...old.user, ...user } });
  const now = client.getQueryData(bundleQuery.queryKey)?.user;
  if (now) applyPreferences(now);
}

/** Updates the account optimistically and rolls back on an error. */
export function useChangeMe() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: MeChange) => request<User>("PUT", "/api/me", { body: change }),
    onMutate: (change) => {
      const before = client.getQueryData(bundleQuery.queryKey)?.user;
      keepUser(client, change);
      return before;
    },
    onError: (_error, _change, before) => before && keepUser(client, before),
    onSuccess: (user) => keepUser(client, user),
  });
}

export async function changePassword(currentPassword: string, newPassword: string): Promise<void> {
  const body = { currentPassword, newPassword };
  await request("PUT", "/api/me/password", { body, challenge: true });
}

/** Credentials that outlive sessions and can be revoked with them. */
export interface RevokeOptions {
  endPersonalAccessTokens: boolean;
  endPasskeys: boolean;
}
export async function revokeSessions(also: RevokeOptions): Promise<void> {
  await request("POST", "/api/me/sessions/revoke", { body: also });
}

export const sessionsQuery = queryOptions({
  queryKey: ["me", "sessions"],
  queryFn: () => request<Session[]>("GET", "/api/me/sessions"),
});
export function endOtherSession(id: Session["id"]): Promise<unknown> {
  return request("DELETE", `/api/me/sessions/${encodeURIComponent(id)}`);
}
/** Ends this session here and on the server. An expired session is not an error. */
export async function signOut(): Promise<void> {
  try {
    await request("POST", "/api/me/logout", { body: {}, anonymous: true });
  } finally {
    endSession();
  }
}

/** The account's security log, newest first. `before` is the id of an entry: only older entries are returned. */
export const securityLogQuery = (before: string | undefined) =>
  queryOptions({
    queryKey: ["me", "security-log", before],
    queryFn: ({ signal }) => request<AuditPage>("GET", "/api/me/security-log", { query: { before }, signal }),
    placeholderData: keepPreviousData,
  });

export const twoFactorQuery = queryOptions({
  queryKey: ["me", "two-factor"],
  queryFn: () => request<TwoFactor>("GET", "/api/me/two-factor"),
});
export function startTotp(password: string): Promise<TotpSetup> {
  return request("POST", "/api/me/two-factor/totp", { body: { password }, challenge: true });
}
export function confirmTotp(code: string): Promise<{ recoveryCodes: string[] }> {
  return request("POST", "/api/me/two-factor/totp/confirm", { body: { code }, challenge: true });
}
export function removeTotp(password: string): Promise<unknown> {
  return request("DELETE", "/api/me/two-factor/totp", { body: { password }, challenge: true });
}
export function newRecoveryCodes(password: string): Promise<{ recoveryCodes: string[] }> {
  return request("POST", "/api/me/two-factor/recovery-codes", { body: { password }, challenge: true });
}

/** Returns recovery codes if the account had none. */
export async function addPasskey(
  name: string,
  password: string,
): Promise<Passkey & { recoveryCodes?: string[] | null }> {
  const { challengeId, options } = await request<Challenge<PublicKeyCredentialCreationOptionsJSON>>(
    "POST",
    "/api/me/passkeys/start",
    { body: password ? { password } : {}, challenge: true },
  );
  const credential = await createPasskey(options);
  return request("POST", "/api/me/passkeys/finish", { body: { challengeId, name, credential }, challenge: true });
}
const passkeyPath = (id: Passkey["id"]) => `/api/me/passkeys/${encodeURIComponent(id)}`;
export function renamePasskey(id: Passkey["id"], name: string): Promise<unknown> {
  return request("PUT", passkeyPath(id), { body: { name } });
}
export function removePasskey(id: Passkey["id"], password: string): Promise<unknown> {
  return request("DELETE", passkeyPath(id), { body: password ? { password } : {}, challenge: true });
}

export const tokensQuery = queryOptions({
  queryKey: ["me", "tokens"],
  queryFn: () => request<AccessToken[]>("GET", "/api/personal-access-tokens"),
});
export interface NewToken {
  name: string;
  expiresInDays: number;
  scopes: Scope[];
  projectIds?: string[];
}
export function createToken(body: NewToken): Promise<AccessToken & { token: string }> {
  return request("POST", "/api/personal-access-tokens", { body });
}
export function revokeToken(id: AccessToken["id"]): Promise<unknown> {
  return request("DELETE", `/api/personal-access-tokens/${encodeURIComponent(id)}`);
}

export const grantsQuery = queryOptions({
  queryKey: ["me", "grants"],
  queryFn: () => request<Grant[]>("GET", "/api/me/grants"),
});
export function revokeGrant(id: Grant["id"]): Promise<unknown> {
  return request("DELETE", `/api/me/grants/${encodeURIComponent(id)}`);
}
