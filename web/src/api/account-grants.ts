// Grants that let a device or an application act as the signed-in user.
import { queryOptions } from "@tanstack/react-query";
import type { ConsentSearch } from "../model/consent";
import type { DeviceRequest, OAuthClient } from "./account-types";
import { request } from "./client";

export const deviceQuery = (code: string) =>
  queryOptions({
    queryKey: ["device", code],
    queryFn: () => request<DeviceRequest>("GET", "/api/device", { query: { user_code: code } }),
    staleTime: 0,
    gcTime: 0,
  });
/** The granted access: at most the requested scope. */
export interface Allowance {
  scope: string;
  project_ids?: string[];
}
export function answerDevice(
  code: string,
  answer: "approve" | "deny",
  allowed?: Allowance,
): Promise<{ status: string }> {
  return request("POST", `/api/device/${answer}`, { body: { user_code: code, ...allowed } });
}

export const clientQuery = (search: ConsentSearch) =>
  queryOptions({
    queryKey: ["oauth-client", search.client_id, search.redirect_uri],
    queryFn: () =>
      request<OAuthClient>("GET", "/api/oauth/client", {
        query: { client_id: search.client_id, redirect_uri: search.redirect_uri },
      }),
    gcTime: 0,
  });
export function answerConsent(
  search: ConsentSearch,
  answer: "approve" | "deny",
  allowed: Allowance,
): Promise<{ redirectTo: string }> {
  const { response_type: _, ...query } = search;
  return request("POST", `/api/oauth/${answer}`, { body: { code_challenge_method: "S256", ...query, ...allowed } });
}
