// The pages of a project that watch it, notify of it, and set it up.
import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import type { PageState } from "../api/oncall";
import { flag, oneOf, type Raw, text, whole } from "../model/search";
import { FILE_KINDS, type FileKind, PLATFORMS, type Platform } from "../model/symbol-kinds";
import { type ListSearch, listSearch } from "../model/telemetry-search";
import { project } from "./project";

/** States of monitors. */
const CHECK_STATES = ["up", "down", "unknown"] as const;
type CheckState = (typeof CHECK_STATES)[number];
export const monitors = createRoute({
  getParentRoute: () => project,
  path: "/monitors",
  validateSearch: (raw: Raw): { q?: string; state?: CheckState; page?: number } => ({
    q: text(raw.q),
    state: oneOf(raw.state, CHECK_STATES),
    page: whole(raw.page, 1),
  }),
  component: lazyRouteComponent(() => import("../pages/monitors/Monitors"), "MonitorsPage"),
});
export const monitor = createRoute({
  getParentRoute: () => project,
  path: "/monitors/$id",
  validateSearch: (raw: Raw): { failed?: true; page?: number } => ({
    failed: flag(raw.failed),
    page: whole(raw.page, 1),
  }),
  component: lazyRouteComponent(() => import("../pages/monitors/Monitor"), "MonitorPage"),
});
export const INCIDENT_VIEWS = ["resolved", "all", "post-mortems"] as const;
export const incidents = createRoute({
  getParentRoute: () => project,
  path: "/incidents",
  validateSearch: (raw: Raw): { show?: (typeof INCIDENT_VIEWS)[number]; before?: number } => ({
    show: oneOf(raw.show, INCIDENT_VIEWS),
    before: whole(raw.before, 1),
  }),
  component: lazyRouteComponent(() => import("../pages/incidents/Incidents"), "IncidentsPage"),
});
export const incident = createRoute({
  getParentRoute: () => project,
  path: "/incidents/$id",
  component: lazyRouteComponent(() => import("../pages/incidents/Incident"), "IncidentPage"),
});
/** The pages themselves, `/status/$slug`, are rendered by the server. */
export const statusPages = createRoute({
  getParentRoute: () => project,
  path: "/status-pages",
  validateSearch: (raw: Raw): { edit?: number; add?: true } => ({ edit: whole(raw.edit, 1), add: flag(raw.add) }),
  component: lazyRouteComponent(() => import("../pages/status-pages/StatusPages"), "StatusPagesPage"),
});
export interface OnCallSearch {
  /** Overview when absent. */
  tab?: "pages" | "schedules" | "policies" | "teams";
  /** The open page. */
  page?: number;
  state?: PageState;
  /** Number of the page of the list. */
  at?: number;
  schedule?: number;
}
export const onCall = createRoute({
  getParentRoute: () => project,
  path: "/on-call",
  validateSearch: (raw: Raw): OnCallSearch => ({
    tab: oneOf(raw.tab, ["pages", "schedules", "policies", "teams"]),
    page: whole(raw.page, 1),
    state: oneOf(raw.state, ["active", "open", "acknowledged", "resolved", "all"]),
    at: whole(raw.at, 1),
    schedule: whole(raw.schedule, 1),
  }),
  component: lazyRouteComponent(() => import("../pages/on-call/OnCall"), "OnCallPage"),
});
export const connect = createRoute({
  getParentRoute: () => project,
  path: "/connect",
  validateSearch: (raw: Raw): { lang?: string; protocol?: string } => ({
    lang: text(raw.lang),
    protocol: text(raw.protocol),
  }),
  component: lazyRouteComponent(() => import("../pages/connect/Connect"), "ConnectPage"),
});
export const alerts = createRoute({
  getParentRoute: () => project,
  path: "/alerts",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/p/$pid/alerts/rules", params, replace: true });
  },
});
export const alertRules = createRoute({
  getParentRoute: () => project,
  path: "/alerts/rules",
  // The form of a new rule: its type, JSON of its configuration, and its name.
  validateSearch: (raw: Raw): { new?: string; config?: string; name?: string } => ({
    new: text(raw.new),
    config: text(raw.config),
    name: text(raw.name),
  }),
  component: lazyRouteComponent(() => import("../pages/alerts/Rules"), "AlertRulesPage"),
});
export const alertChannels = createRoute({
  getParentRoute: () => project,
  path: "/alerts/channels",
  validateSearch: (raw: Raw): { channel?: number | "new" } => ({
    channel: raw.channel === "new" ? "new" : whole(raw.channel, 1),
  }),
  component: lazyRouteComponent(() => import("../pages/alerts/channels/Channels"), "ChannelsPage"),
});
export const alertHistory = createRoute({
  getParentRoute: () => project,
  path: "/alerts/history",
  validateSearch: (raw: Raw): { q?: string; status?: "firing" | "resolved"; page?: number } => ({
    q: text(raw.q),
    status: oneOf(raw.status, ["firing", "resolved"]),
    page: whole(raw.page, 1),
  }),
  component: lazyRouteComponent(() => import("../pages/alerts/History"), "AlertHistoryPage"),
});
export const settings = createRoute({
  getParentRoute: () => project,
  path: "/settings",
  component: lazyRouteComponent(() => import("../pages/settings/Settings"), "SettingsPage"),
});

export interface SymbolSearch extends ListSearch {
  kind?: FileKind;
  /** The platform whose upload command is shown. */
  how?: Platform;
}
export const symbols = createRoute({
  getParentRoute: () => project,
  path: "/settings/symbols",
  validateSearch: (raw: Raw): SymbolSearch => ({
    ...listSearch(raw),
    kind: oneOf(raw.kind, FILE_KINDS),
    how: oneOf(raw.how, PLATFORMS),
  }),
  component: lazyRouteComponent(() => import("../pages/symbols/Symbols"), "SymbolsPage"),
});
