// Notification rules of the project, their preview, and what people were notified of.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Config } from "../model/config-fields";
import { showToast } from "../model/toasts";
import type { Pagination } from "../model/types";
import { request } from "./client";
import { useProjectId } from "./hooks";

const RULES = "/api/notification-rules";
const HISTORY = "/api/notification-history";
const OPEN = "/api/notification-history/open-count";

export type RuleSeverity = "critical" | "warning" | "info";

export interface NewRule {
  channelId: number;
  name: string;
  ruleType: string;
  config: Config;
  cooldownMinutes: number;
  /** Empty: by the type and the value. */
  severity: RuleSeverity | "";
}

export interface Rule extends NewRule {
  id: number;
  enabled: boolean;
  snoozedUntil: string | null;
  /** Subjects for which it fires now. */
  firing: number;
  lastFiredAt: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface Preview {
  series: { timestamp: string; value: number }[];
  threshold: number | null;
  unit: string;
  firings: { timestamp: string; subject: string; severity: RuleSeverity }[];
  count: number;
}

export interface NotificationRow {
  id: number;
  alertKey: string;
  status: "firing" | "resolved";
  severity: RuleSeverity;
  ruleType: string;
  ruleName: string;
  subject: string;
  body: string;
  path: string;
  open: boolean;
  sent: number;
  waiting: number;
  failed: number;
  error: string;
  createdAt: string;
}

export interface HistoryBody {
  fromDate?: string;
  toDate?: string;
  status?: string;
  search?: string;
  pagination?: { page: number; pageSize: number };
}

const isProject = (projectId: string) => projectId !== "none" && projectId !== "";

export function useRules() {
  const projectId = useProjectId();
  return useQuery({
    queryKey: [projectId, RULES],
    queryFn: ({ signal }) => request<{ rules: Rule[] }>("GET", RULES, { query: { projectId }, signal }),
    enabled: isProject(projectId),
    refetchInterval: 15_000,
  });
}

/** The channels that a rule can notify. */
export function useRuleChannels() {
  const projectId = useProjectId();
  const path = "/api/notification-channels";
  return useQuery({
    queryKey: [projectId, path],
    queryFn: ({ signal }) =>
      request<{ channels: { id: number; name: string; channelType: string }[] }>("GET", path, {
        query: { projectId },
        signal,
      }),
    enabled: isProject(projectId),
  });
}

function useChange<Change, Answer>(send: (change: Change, projectId: string) => Promise<Answer>) {
  const projectId = useProjectId();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: Change) => send(change, projectId),
    onSettled: () =>
      Promise.all([RULES, HISTORY, OPEN].map((path) => client.invalidateQueries({ queryKey: [projectId, path] }))),
  });
}

/** Creates a rule, or replaces the one with the id. */
export function useSaveRule() {
  return useChange(({ id, ...body }: NewRule & { id?: number }, projectId) =>
    request<Rule>(id === undefined ? "POST" : "PUT", id === undefined ? RULES : `${RULES}/${id}`, {
      query: { projectId },
      body,
    }),
  );
}

export function useToggleRule() {
  return useChange((id: number, projectId) => request<Rule>("POST", `${RULES}/${id}/toggle`, { query: { projectId } }));
}

/** 0 minutes end a snooze. */
export function useSnoozeRule() {
  return useChange(({ id, durationMinutes }: { id: number; durationMinutes: number }, projectId) =>
    request<Rule>("POST", `${RULES}/${id}/snooze`, { query: { projectId }, body: { durationMinutes } }),
  );
}

export function useDeleteRule() {
  return useChange(async ({ id, name }: { id: number; name: string }, projectId) => {
    await request("DELETE", `${RULES}/${id}`, { query: { projectId } });
    showToast(`Deleted the rule ${name}`);
  });
}

/** A rule over the last seven days. `null`: nothing is drawn. */
export function useRulePreview(rule: Pick<NewRule, "ruleType" | "config" | "cooldownMinutes"> | null) {
  const projectId = useProjectId();
  return useQuery({
    queryKey: [projectId, `${RULES}/preview`, rule],
    queryFn: ({ signal }) => request<Preview>("POST", `${RULES}/preview`, { query: { projectId }, body: rule, signal }),
    enabled: rule !== null && isProject(projectId),
    retry: false,
    placeholderData: (before) => before,
  });
}

export function useNotifications(body: HistoryBody, enabled = true) {
  const projectId = useProjectId();
  return useQuery({
    queryKey: [projectId, HISTORY, body],
    queryFn: ({ signal }) =>
      request<{ data: NotificationRow[]; pagination: Pagination }>("POST", HISTORY, {
        query: { projectId },
        body,
        signal,
      }),
    enabled: enabled && isProject(projectId),
    refetchInterval: 15_000,
    placeholderData: (before) => before,
  });
}

/** Alerts that began in the last day and have not ended. */
export function useOpenAlerts(): number {
  const projectId = useProjectId();
  const query = useQuery({
    queryKey: [projectId, OPEN],
    queryFn: ({ signal }) => request<{ count: number }>("GET", OPEN, { query: { projectId }, signal }),
    enabled: isProject(projectId),
    refetchInterval: 30_000,
  });
  return query.data?.count ?? 0;
}
