// Adds the services and environments of the URL to the requests that take them.
import { useLocation, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { type GlobalFilter, isFiltered, parseValues } from "../model/global-filter";
import type { paths } from "../model/schema";

type Takes<Operation> = Operation extends { parameters: { query: infer Query } }
  ? "environment" extends keyof Query
    ? true
    : never
  : never;
type FilteredPath = {
  [Path in keyof paths]: [Takes<paths[Path]["get"]> | Takes<paths[Path]["post"]>] extends [never] ? never : Path;
}[keyof paths];

/** The routes that take the filter; the type has them all from the server's description. */
const FILTERED: Record<FilteredPath, true> = {
  "/api/breakdown": true,
  "/api/logs/of-entity": true,
  "/api/services/detail": true,
  "/api/services/map": true,
  "/api/ai-conversations/grouped": true,
  "/api/ai-traces": true,
  "/api/ai-traces/chart": true,
  "/api/ai-traces/grouped": true,
  "/api/ai-traces/trace": true,
  "/api/ai-users/grouped": true,
  "/api/compare": true,
  "/api/dashboard/overview": true,
  "/api/deploys/list": true,
  "/api/endpoints": true,
  "/api/endpoints/chart": true,
  "/api/endpoints/endpoint": true,
  "/api/endpoints/grouped": true,
  "/api/exception-stack-traces": true,
  "/api/exception-stack-traces/{hash}": true,
  "/api/explain": true,
  "/api/export": true,
  "/api/heatmap": true,
  "/api/logs": true,
  "/api/logs/around": true,
  "/api/logs/export": true,
  "/api/logs/histogram": true,
  "/api/logs/patterns": true,
  "/api/logs/tail": true,
  "/api/metrics/discover": true,
  "/api/metrics/discover/instances": true,
  "/api/metrics/discover/tags": true,
  "/api/metrics/query": true,
  "/api/overview/answers": true,
  "/api/overview/changes": true,
  "/api/profiles/dimensions": true,
  "/api/profiles/flamegraph": true,
  "/api/profiles/grouped": true,
  "/api/profiles/labels": true,
  "/api/profiles/links": true,
  "/api/profiles/pprof": true,
  "/api/profiles/series": true,
  "/api/profiles/series/breakdown": true,
  "/api/profiles/top": true,
  "/api/profiles/types": true,
  "/api/query/complete": true,
  "/api/query/facets": true,
  "/api/sessions": true,
  "/api/spans": true,
  "/api/tasks": true,
  "/api/tasks/chart": true,
  "/api/tasks/grouped": true,
  "/api/tasks/task": true,
  "/api/traces/search": true,
};

export type Query = Record<string, string | string[] | undefined>;

/** The selected services and environments; none on a page without their controls. */
export function useGlobalFilter(): GlobalFilter {
  const { service, env } = useSearch({ strict: false }) as { service?: string; env?: string };
  const isOn = useLocation({ select: (location) => isFiltered(location.pathname) });
  return useMemo(
    () => ({ services: parseValues(isOn ? service : ""), environments: parseValues(isOn ? env : "") }),
    [service, env, isOn],
  );
}

/** The query of a request for a route, with the filter if the route takes it and it selects. */
export function withFilter<Own extends Query | undefined>(
  { services, environments }: GlobalFilter,
  route: string,
  query: Own,
): Own | Query {
  if (!(route in FILTERED) || (!services.length && !environments.length)) return query;
  return { ...query, service: services, environment: environments };
}
