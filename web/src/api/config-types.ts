// Types of rules, channels and monitors: words, fields and bounds. They are constants of the server's build.
import { useQuery } from "@tanstack/react-query";
import type { ConfigTypes } from "../model/types";
import { request } from "./client";
import { useProjectId } from "./hooks";

const ROUTES = {
  rules: "/api/notification-rules/types",
  channels: "/api/notification-channels/types",
  monitors: "/api/synthetics/types",
} as const;

/** Loaded once: the answer is the same for every project. */
export function useConfigTypes(kind: keyof typeof ROUTES) {
  const projectId = useProjectId();
  const route = ROUTES[kind];
  return useQuery({
    queryKey: ["config types", route],
    queryFn: ({ signal }) => request<ConfigTypes>("GET", route, { query: { projectId }, signal }),
    enabled: projectId !== "none" && projectId !== "",
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  });
}

/** The types for labels: undefined while they are loaded, none if that fails. */
export function useTypesForLabels(kind: keyof typeof ROUTES) {
  const { data, isError } = useConfigTypes(kind);
  return isError ? [] : data?.types;
}
