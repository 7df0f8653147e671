// Links that acknowledge an alert.
import { queryOptions } from "@tanstack/react-query";
import { request } from "./client";
import type { components } from "./schema";

export type AckLink = components["schemas"]["AckView"];

const path = (token: string) => `/api/ack/${encodeURIComponent(token)}`;

export const ackQuery = (token: string) =>
  queryOptions({
    queryKey: ["ack", token],
    queryFn: () => request<AckLink>("GET", path(token), { anonymous: true }),
    retry: false,
  });
export function acknowledge(token: string): Promise<AckLink> {
  return request("POST", path(token), { anonymous: true });
}
