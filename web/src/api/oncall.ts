// On-call: teams, schedules, escalation policies, pages; contact methods of the user.
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { asRole, mayManage } from "../model/roles";
import { showToast } from "../model/toasts";
import { useBundle, useProject } from "./account";
import { request } from "./client";
import { useProjectId } from "./hooks";

export interface Person {
  userId: number;
  name: string;
  email: string;
}
export interface Team {
  id: number;
  name: string;
  description: string;
  members: Person[];
  projects: { projectId: string; name: string }[];
  scheduleCount: number;
}
export interface TeamBody {
  name: string;
  description: string;
  memberIds: number[];
  projectIds: string[];
}
export type Restriction =
  | { type: "daily"; startTime: string; endTime: string }
  | { type: "weekly"; startDay: number; startTime: string; endDay: number; endTime: string };
export interface Layer {
  id: string;
  name: string;
  rotationType: "daily" | "weekly" | "custom";
  handoffTime: string;
  /** 0 is Sunday. */
  handoffDay: number;
  intervalDays: number;
  intervalHours?: number;
  rotationStart: string;
  userIds: number[];
  restrictions: Restriction[];
}
export interface ScheduleBody {
  teamId: number;
  name: string;
  description: string;
  timezone: string;
  definition: { layers: Layer[] };
}
export interface Schedule extends ScheduleBody {
  id: number;
}
export interface Shift {
  userId: number;
  start: string;
  end: string;
  isOverride: boolean;
}
export interface Timeline {
  from: string;
  to: string;
  layers: { id: string; name: string; shifts: Shift[] }[];
  final: Shift[];
  users: Record<string, Person | null>;
}
export interface Override {
  id: number;
  userId: number;
  startAt: string;
  endAt: string;
  createdBy: number | null;
}
export interface ScheduleNow {
  id: number;
  name: string;
  oncall: Person[];
  until: string | null;
  nextUp: Person | null;
  nextAt: string | null;
}
export interface StepTarget {
  type: "schedule" | "team" | "user" | "channel";
  id: number;
}
export interface PolicyBody {
  name: string;
  definition: {
    steps: { targets: StepTarget[]; delayMinutes: number }[];
    repeat: number;
    urgency: "auto" | "high" | "low";
  };
}
export interface Policy extends PolicyBody {
  id: number;
}
export interface OncallPage {
  id: number;
  policyName: string;
  policySnapshot: PolicyBody["definition"];
  ruleName: string;
  subject: string;
  body: string;
  url: string;
  severity: "critical" | "warning" | "info";
  urgency: "high" | "low";
  status: "open" | "acknowledged" | "resolved";
  eventCount: number;
  lastEventAt: string;
  escalationLevel: number;
  nextEscalationAt: string | null;
  acknowledgedByName: string | null;
  acknowledgedVia: string;
  acknowledgedAt: string | null;
  resolvedByName: string | null;
  resolvedAt: string | null;
  createdAt: string;
}
export interface Delivery {
  id: number;
  level: number;
  iteration: number;
  userId: number | null;
  targetDesc: string;
  methodType: string;
  status: "pending" | "sent" | "failed" | "cancelled";
  errorMsg: string;
  createdAt: string;
}
export interface Handover {
  scheduleName: string;
  shift: Shift | null;
  person: Person | null;
  pages: OncallPage[];
  open: number;
  acknowledged: number;
  resolved: number;
}

/** The organization of the project of the page, and whether the user changes its schedules. */
export function useOncallOrganization(): { id: number; isAdmin: boolean } {
  const project = useProject();
  const organization = useBundle()?.organizations.find((one) => one.id === project?.organizationId);
  return { id: organization?.id ?? 0, isAdmin: mayManage(asRole(organization?.role)) };
}

const path = (organization: number, rest: string) => `/api/organizations/${organization}/${rest}`;
const key = (organization: number, ...rest: unknown[]) => ["oncall", organization, ...rest];

function useOrganizationGet<T>(rest: string, every?: number, enabled = true) {
  const { id } = useOncallOrganization();
  return useQuery({
    queryKey: key(id, rest),
    queryFn: ({ signal }) => request<T>("GET", path(id, rest), { signal }),
    enabled: enabled && id > 0,
    refetchInterval: every,
  });
}

export const useTeams = () => useOrganizationGet<{ teams: Team[] }>("teams");
export const useSchedules = () => useOrganizationGet<{ schedules: Schedule[] }>("schedules");
export const usePolicies = () => useOrganizationGet<{ policies: Policy[] }>("escalation-policies");
export const useNow = () =>
  useOrganizationGet<{ teams: { team: Team; schedules: ScheduleNow[] }[] }>("oncall/now", 30_000);
export const useHandover = (schedule: number | undefined) =>
  useOrganizationGet<Handover>(`oncall/handover?scheduleId=${schedule}`, undefined, schedule !== undefined);
export const useSchedule = (schedule: number) =>
  useOrganizationGet<{ schedule: Schedule; overrides: Override[] }>(`schedules/${schedule}`);
export const useTimeline = (schedule: number, from: string, to: string) =>
  useOrganizationGet<Timeline>(`schedules/${schedule}/timeline?${new URLSearchParams({ from, to })}`);
export const useMembers = () => useOrganizationGet<(Person & { role: string })[]>("members");

/** The timeline of a schedule that is being edited. */
export function usePreview(timezone: string, definition: { layers: Layer[] }, from: string, to: string) {
  const { id } = useOncallOrganization();
  const body = { timezone, definition, from, to };
  return useQuery({
    queryKey: key(id, "preview", body),
    queryFn: ({ signal }) => request<Timeline>("POST", path(id, "schedules/preview"), { body, signal }),
    enabled: id > 0,
    placeholderData: (previous) => previous,
    retry: false,
  });
}

/** A change in the organization; everything of on-call is loaded again afterwards. */
function useOrganizationChange<Change, Answer = unknown>(
  send: (organization: number, change: Change) => Promise<Answer>,
) {
  const { id } = useOncallOrganization();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: Change) => send(id, change),
    onSettled: () => client.invalidateQueries({ queryKey: ["oncall"] }),
  });
}

type Saved<Body> = { id?: number; body: Body };
function useSave<Body>(kind: string) {
  return useOrganizationChange<Saved<Body>, { id: number }>((organization, { id, body }) =>
    request(id ? "PUT" : "POST", path(organization, id ? `${kind}/${id}` : kind), { body }),
  );
}
export const useSaveTeam = () => useSave<TeamBody>("teams");
export const useSaveSchedule = () => useSave<ScheduleBody>("schedules");
export const useSavePolicy = () => useSave<PolicyBody>("escalation-policies");
export const useDelete = (kind: "teams" | "schedules" | "escalation-policies") =>
  useOrganizationChange<number>((organization, id) => request("DELETE", path(organization, `${kind}/${id}`)));
export const useAddOverride = (schedule: number) =>
  useOrganizationChange<{ userId: number; startAt: string; endAt: string }>((organization, body) =>
    request("POST", path(organization, `schedules/${schedule}/overrides`), { body }),
  );
export const useDeleteOverride = (schedule: number) =>
  useOrganizationChange<number>((organization, id) =>
    request("DELETE", path(organization, `schedules/${schedule}/overrides/${id}`)),
  );

export const PAGE_STATES = ["active", "open", "acknowledged", "resolved", "all"] as const;
export type PageState = (typeof PAGE_STATES)[number];

export function usePages(state: PageState, page: number) {
  const projectId = useProjectId();
  const body = { status: state === "all" ? "" : state, pagination: { page, pageSize: 50 } };
  return useQuery({
    queryKey: ["oncall", "pages", projectId, body],
    queryFn: ({ signal }) =>
      request<{ data: OncallPage[]; pagination: { total: number; totalPages: number } }>("POST", "/api/pages", {
        query: { projectId },
        body,
        signal,
      }),
    refetchInterval: 15_000,
    placeholderData: (previous) => previous,
  });
}

export function usePage(id: number) {
  const projectId = useProjectId();
  return useQuery({
    queryKey: ["oncall", "page", projectId, id],
    queryFn: ({ signal }) =>
      request<{ page: OncallPage; notifications: Delivery[]; users: Record<string, string> }>(
        "GET",
        `/api/pages/${id}`,
        { query: { projectId }, signal },
      ),
    refetchInterval: 15_000,
  });
}

function usePageChange<Change, Answer>(send: (projectId: string, change: Change) => Promise<Answer>) {
  const projectId = useProjectId();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: Change) => send(projectId, change),
    onSettled: () => client.invalidateQueries({ queryKey: ["oncall"] }),
  });
}
export function useActOnPages() {
  return usePageChange(async (projectId, { action, ids }: { action: "acknowledge" | "resolve"; ids: number[] }) => {
    await request("POST", `/api/pages/bulk-${action}`, { query: { projectId }, body: { ids } });
    const what = ids.length === 1 ? "Page" : `${ids.length} pages`;
    showToast(`${what} ${action === "resolve" ? "resolved" : "acknowledged"}`);
  });
}
export function useOpenPage() {
  return usePageChange((projectId, body: { policyId: number; subject: string; body: string; severity: string }) =>
    request<OncallPage>("POST", "/api/pages/open", { query: { projectId }, body }),
  );
}

export interface ContactMethod {
  id: number;
  methodType: string;
  config: Record<string, string>;
  summary: string;
  enabled: boolean;
  verified: boolean;
}
export interface ChainStep {
  contactMethodId: number;
  delayMinutes: number;
}
export interface Chains {
  high: ChainStep[];
  low: ChainStep[];
}

export const contactsQuery = queryOptions({
  queryKey: ["contact-methods"],
  queryFn: () => request<{ methods: ContactMethod[]; smsEnabled: boolean }>("GET", "/api/contact-methods"),
});
export const chainsQuery = queryOptions({
  queryKey: ["contact-methods", "rules"],
  queryFn: () => request<Chains>("GET", "/api/user-notification-rules"),
});
export const calendarQuery = queryOptions({
  queryKey: ["on-call-calendar"],
  queryFn: () => request<{ createdAt: string | null }>("GET", "/api/on-call-calendar"),
});

/** A change of the user's own contact methods, which are loaded again afterwards. */
export function useContactChange<Change, Answer = unknown>(send: (change: Change) => Promise<Answer>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSettled: () => client.invalidateQueries({ queryKey: contactsQuery.queryKey }),
  });
}
const contact = (id: number, rest = "") => `/api/contact-methods/${id}${rest}`;
export const addContact = (body: { methodType: string; config: Record<string, string> }) =>
  request<ContactMethod>("POST", "/api/contact-methods", { body });
export const enableContact = ({ id, enabled }: { id: number; enabled: boolean }) =>
  request("PUT", contact(id), { body: { enabled } });
export const deleteContact = (id: number) => request("DELETE", contact(id));
export const verifyContact = ({ id, code }: { id: number; code: string }) =>
  request("POST", contact(id, "/verify"), { body: { code } });
export const resendCode = (id: number) => request("POST", contact(id, "/resend-code"));
export const testContact = (id: number) => request("POST", contact(id, "/test"));
export const setChains = (body: Chains) => request<Chains>("PUT", "/api/user-notification-rules", { body });
export const createCalendar = () => request<{ url: string }>("POST", "/api/on-call-calendar");
export const endCalendar = () => request("DELETE", "/api/on-call-calendar");
