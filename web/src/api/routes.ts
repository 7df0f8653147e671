// What each route takes and gives. Pages name a route; the compiler knows its body and answer.
import type * as t from "./types";

export interface RangeBody {
  fromDate: string;
  toDate: string;
}
export interface ListBody extends RangeBody {
  orderBy?: string;
  sortDirection?: "asc" | "desc";
  search?: string;
  pagination?: { page: number; pageSize: number };
}
export interface LogBody extends Partial<ListBody> {
  searchType?: "body" | "attribute";
  minSeverity?: number;
  serviceName?: string;
  traceId?: string;
  spanId?: string;
  linkedOnly?: boolean;
  attributeFilters?: { scope: string; key: string; value: string }[];
}
export interface SpanBody extends ListBody {
  serviceName?: string;
  name?: string;
  traceId?: string;
  kind?: number;
  status?: number;
  minDurationMs?: number;
  maxDurationMs?: number;
  attributeFilters?: { key: string; value: string }[];
  rootsOnly?: boolean;
}
export interface ChartBody extends RangeBody {
  metricType?: string;
  intervalMinutes?: number;
  endpoint?: string;
  task?: string;
  trace?: string;
}

interface R<Body, Answer> {
  body: Body;
  answer: Answer;
}
export interface PostRoutes {
  "/api/endpoints": R<ListBody & { rootFilter?: string }, t.Page<t.EndpointRow>>;
  "/api/endpoints/grouped": R<ListBody & { rootFilter?: string }, t.Page<t.EndpointGroup>>;
  "/api/endpoints/endpoint": R<ListBody & { statusClass?: string }, t.EndpointDetail>;
  "/api/endpoints/chart": R<ChartBody, t.ChartAnswer>;
  "/api/tasks/grouped": R<ListBody, t.Page<t.TaskGroup>>;
  "/api/tasks/task": R<ListBody, t.TaskDetail>;
  "/api/tasks/chart": R<ChartBody, t.ChartAnswer>;
  "/api/ai-traces/grouped": R<ListBody, t.Page<t.AiGroup>>;
  "/api/ai-traces/trace": R<ListBody, t.AiList>;
  "/api/ai-traces/chart": R<ChartBody, t.ChartAnswer>;
  "/api/ai-traces/{id}": R<{ recordedAt?: string }, t.AiDetail>;
  "/api/exception-stack-traces": R<ListBody & { searchType?: string; includeArchived?: boolean }, t.Page<t.IssueGroup>>;
  "/api/exception-stack-traces/{hash}": R<Partial<ListBody>, t.IssueDetail>;
  "/api/exception-stack-traces/archive": R<{ hashes: string[] }, { archived: number }>;
  "/api/exception-stack-traces/unarchive": R<{ hashes: string[] }, { unarchived: number }>;
  "/api/logs": R<LogBody, t.Page<t.LogRow>>;
  "/api/logs/histogram": R<LogBody, t.LogHistogram>;
  "/api/spans": R<SpanBody, t.SpanPage>;
  "/api/distributed-traces/{traceId}": R<{ recordedAt?: string }, t.TraceAnswer>;
  "/api/metrics/query": R<
    {
      queries: { name: string; aggregation: string; tagFilters?: Record<string, string>; groupBy?: string }[];
      from: string;
      to: string;
      intervalMinutes?: number;
    },
    t.MetricAnswer
  >;
  "/api/drops": R<RangeBody, t.Drops>;
}
export interface GetRoutes {
  "/api/dashboard/overview": t.Overview;
  "/api/metrics/discover": { metrics: t.MetricInfo[] | null };
  "/api/metrics/discover/tags": { values: string[] | null };
  "/api/spans/{traceId}/{spanId}": t.Span;
  "/api/me/login-bundle": t.Bundle;
  "/api/has-organizations": { hasOrganizations: boolean };
}
