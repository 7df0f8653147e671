// Query hooks: one query per (route, project, body). Previous data stays on screen while new data loads.
import { keepPreviousData, type QueryKey, queryOptions, useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { request } from "./client";
import { type Query, useGlobalFilter, withFilter } from "./global-filter";
import type { GetRoutes, PostRoutes } from "./routes";

interface Options {
  path?: Record<string, string>;
  query?: Query;
  enabled?: boolean;
  /** Milliseconds between polls. */
  every?: number;
  /** Milliseconds for which an answer is not requested again. */
  freshMs?: number;
  /** False: previous data is not shown, because another body is another object (detail pages). */
  keep?: boolean;
}

export function fill(path: string, values: Record<string, string> = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(values[key] ?? ""));
}

export function postOptions<P extends keyof PostRoutes>(
  projectId: string,
  route: P,
  body: PostRoutes[P]["body"],
  options: Options = {},
) {
  const key: QueryKey = [projectId, route, options.path, options.query, body];
  return queryOptions({
    queryKey: key,
    queryFn: ({ signal }) =>
      request<PostRoutes[P]["answer"]>("POST", fill(route, options.path), {
        query: { projectId, ...options.query },
        body,
        signal,
      }),
  });
}

export function useProjectId(): string {
  return useParams({ strict: false }).pid ?? "";
}

export function usePost<P extends keyof PostRoutes>(route: P, body: PostRoutes[P]["body"], options: Options = {}) {
  const projectId = useProjectId();
  const query = withFilter(useGlobalFilter(), route, options.query);
  return useQuery({
    ...postOptions(projectId, route, body, { ...options, query }),
    enabled: options.enabled ?? true,
    refetchInterval: options.every,
    ...(options.freshMs !== undefined && { staleTime: options.freshMs }),
    placeholderData: options.keep === false ? undefined : keepPreviousData,
  });
}

export function useGet<P extends keyof GetRoutes>(route: P, options: Options = {}) {
  const projectId = useProjectId();
  const query = withFilter(useGlobalFilter(), route, options.query);
  return useQuery({
    queryKey: [projectId, route, options.path, query],
    queryFn: ({ signal }) =>
      request<GetRoutes[P]>("GET", fill(route, options.path), { query: { projectId, ...query }, signal }),
    enabled: options.enabled ?? true,
    refetchInterval: options.every,
    placeholderData: options.keep === false ? undefined : keepPreviousData,
  });
}
