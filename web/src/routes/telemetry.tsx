// The pages of telemetry of a project. The search part of their addresses: `model/telemetry-search`.
import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import {
  aiSearch,
  aiTraceSearch,
  endpointsSearch,
  issueSearch,
  issuesSearch,
  listSearch,
  logSearch,
  metricSearch,
  nameSearch,
  profileSearch,
  servicesSearch,
  sessionSearch,
  sessionsSearch,
  spanSearch,
  tasksSearch,
  traceSearch,
} from "../model/telemetry-search";
import { project } from "./project";

export const overview = createRoute({
  getParentRoute: () => project,
  path: "/",
  component: lazyRouteComponent(() => import("../pages/overview/Overview"), "OverviewPage"),
});
export const services = createRoute({
  getParentRoute: () => project,
  path: "/services",
  validateSearch: servicesSearch,
  component: lazyRouteComponent(() => import("../pages/services/Services"), "ServicesPage"),
});
export const service = createRoute({
  getParentRoute: () => project,
  path: "/services/$name",
  component: lazyRouteComponent(() => import("../pages/services/Service"), "ServicePage"),
});
export const endpoints = createRoute({
  getParentRoute: () => project,
  path: "/endpoints",
  validateSearch: endpointsSearch,
  component: lazyRouteComponent(() => import("../pages/endpoints/Endpoints"), "EndpointsPage"),
});
export const endpoint = createRoute({
  getParentRoute: () => project,
  path: "/endpoints/$name",
  validateSearch: nameSearch,
  component: lazyRouteComponent(() => import("../pages/endpoint/Endpoint"), "EndpointPage"),
});
export const tasks = createRoute({
  getParentRoute: () => project,
  path: "/tasks",
  validateSearch: tasksSearch,
  component: lazyRouteComponent(() => import("../pages/tasks/Tasks"), "TasksPage"),
});
export const task = createRoute({
  getParentRoute: () => project,
  path: "/tasks/$name",
  validateSearch: nameSearch,
  component: lazyRouteComponent(() => import("../pages/task/Task"), "TaskPage"),
});
export const ai = createRoute({
  getParentRoute: () => project,
  path: "/ai",
  validateSearch: aiSearch,
  component: lazyRouteComponent(() => import("../pages/ai/Ai"), "AiPage"),
});
export const aiName = createRoute({
  getParentRoute: () => project,
  path: "/ai/$name",
  validateSearch: nameSearch,
  component: lazyRouteComponent(() => import("../pages/aiName/AiName"), "AiNamePage"),
});
export const aiTrace = createRoute({
  getParentRoute: () => project,
  path: "/ai/t/$rowId",
  validateSearch: aiTraceSearch,
  component: lazyRouteComponent(() => import("../pages/aiTrace/AiTrace"), "AiTracePage"),
});
export const issues = createRoute({
  getParentRoute: () => project,
  path: "/issues",
  validateSearch: issuesSearch,
  component: lazyRouteComponent(() => import("../pages/issues/Issues"), "IssuesPage"),
});
export const issue = createRoute({
  getParentRoute: () => project,
  path: "/issues/$hash",
  validateSearch: issueSearch,
  component: lazyRouteComponent(() => import("../pages/issue/Issue"), "IssuePage"),
});
export const sessions = createRoute({
  getParentRoute: () => project,
  path: "/sessions",
  validateSearch: sessionsSearch,
  component: lazyRouteComponent(() => import("../pages/sessions/Sessions"), "SessionsPage"),
});
export const session = createRoute({
  getParentRoute: () => project,
  path: "/sessions/$id",
  validateSearch: sessionSearch,
  component: lazyRouteComponent(() => import("../pages/session/Session"), "SessionPage"),
});
export const traces = createRoute({
  getParentRoute: () => project,
  path: "/traces",
  validateSearch: spanSearch,
  component: lazyRouteComponent(() => import("../pages/traces/Traces"), "TracesPage"),
});
export const trace = createRoute({
  getParentRoute: () => project,
  path: "/traces/$traceId",
  validateSearch: traceSearch,
  component: lazyRouteComponent(() => import("../pages/trace/Trace"), "TracePage"),
});
export const logs = createRoute({
  getParentRoute: () => project,
  path: "/logs",
  validateSearch: logSearch,
  component: lazyRouteComponent(() => import("../pages/logs/Logs"), "LogsPage"),
});
export const metrics = createRoute({
  getParentRoute: () => project,
  path: "/metrics",
  validateSearch: metricSearch,
  component: lazyRouteComponent(() => import("../pages/metrics/Metrics"), "MetricsPage"),
});
export const profiles = createRoute({
  getParentRoute: () => project,
  path: "/profiles",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("../pages/profiles/Profiles"), "ProfilesPage"),
});
export const profile = createRoute({
  getParentRoute: () => project,
  path: "/profiles/$service",
  validateSearch: profileSearch,
  component: lazyRouteComponent(() => import("../pages/profile/Profile"), "ProfilePage"),
});
export const deploys = createRoute({
  getParentRoute: () => project,
  path: "/deploys",
  component: lazyRouteComponent(() => import("../pages/deploys/Deploys"), "DeploysPage"),
});
export const deployed = createRoute({
  getParentRoute: () => project,
  path: "/deploys/$service/$version",
  component: lazyRouteComponent(() => import("../pages/deploys/Version"), "VersionPage"),
});
