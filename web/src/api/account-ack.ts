// Links that acknowledge an alert.
import { queryOptions } from "@tanstack/react-query";
import type { components } from "../model/schema";
import { request } from "./client";

export type AckLink = components["schemas"]["AckView"];

/** Of the link of a page. */
export interface PageFacts {
  body: string;
  severity: string;
  ruleName: string;
  projectName: string;
  eventCount: number;
  createdAt: string;
}

export const ackQuery = (token: string) =>
  queryOptions({
    queryKey: ["ack", token],
    queryFn: () => request<AckLink>("GET", "/api/ack", { anonymous: true, linkToken: token }),
    retry: false,
  });
export function acknowledge(token: string): Promise<AckLink> {
  return request("POST", "/api/ack", { anonymous: true, linkToken: token });
}
