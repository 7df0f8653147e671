// Sign-in, first run, and the pages of a user or an organization.
import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { bundleQuery, hasOrganizations } from "../api/account";
import { keepLinkToken, keptLinkToken, linkTokenIn } from "../api/link-token";
import { queryClient } from "../api/query-client";
import { lastProject } from "../api/session";
import type { ConsentSearch } from "../model/consent";
import { oneOf, type Raw, text, whole } from "../model/search";
import { requireSession, root } from "./root";

export const setup = createRoute({
  getParentRoute: () => root,
  path: "/setup",
  beforeLoad: async () => {
    const { hasOrganizations: any } = await hasOrganizations();
    if (any) throw redirect({ to: "/login", search: { next: undefined } });
  },
  component: lazyRouteComponent(() => import("../pages/auth/Setup"), "Setup"),
});
export const register = createRoute({
  getParentRoute: () => root,
  path: "/register",
  beforeLoad: async () => {
    const { hasOrganizations: any } = await hasOrganizations();
    if (!any) throw redirect({ to: "/setup" });
  },
  component: lazyRouteComponent(() => import("../pages/auth/Register"), "Register"),
});
export const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: (raw: Raw): { next?: string; error?: string } => ({ next: text(raw.next), error: text(raw.error) }),
  component: lazyRouteComponent(() => import("../pages/auth/Login"), "Login"),
});
export const forgot = createRoute({
  getParentRoute: () => root,
  path: "/forgot-password",
  component: lazyRouteComponent(() => import("../pages/auth/Forgot"), "Forgot"),
});
const tokenSearch = (raw: Raw): { token?: string } => ({ token: text(raw.token) });
/** Removes the secret of a mailed link from the address and puts it into the route's context. */
const withLinkToken =
  (page: "/reset-password" | "/accept-invitation" | "/ack") =>
  ({ location, search }: { location: { hash: string }; search: { token?: string } }) => {
    const token = linkTokenIn(location.hash, search);
    if (!token) return { linkToken: keptLinkToken(page) };
    keepLinkToken(page, token);
    throw redirect({ to: page, replace: true });
  };
export const reset = createRoute({
  getParentRoute: () => root,
  path: "/reset-password",
  validateSearch: tokenSearch,
  beforeLoad: withLinkToken("/reset-password"),
  component: lazyRouteComponent(() => import("../pages/auth/Reset"), "Reset"),
});
export const invitation = createRoute({
  getParentRoute: () => root,
  path: "/accept-invitation",
  validateSearch: tokenSearch,
  beforeLoad: withLinkToken("/accept-invitation"),
  component: lazyRouteComponent(() => import("../pages/auth/Invitation"), "AcceptInvitation"),
});
export const callback = createRoute({
  getParentRoute: () => root,
  path: "/auth/callback",
  component: lazyRouteComponent(() => import("../pages/auth/Callback"), "Callback"),
});

/** Links in alerts. The link alone permits acknowledging, without a session. */
export const ackLink = createRoute({
  getParentRoute: () => root,
  path: "/ack/$token",
  beforeLoad: ({ params }) => {
    keepLinkToken("/ack", params.token);
    throw redirect({ to: "/ack", replace: true });
  },
});
export const ack = createRoute({
  getParentRoute: () => root,
  path: "/ack",
  validateSearch: tokenSearch,
  beforeLoad: withLinkToken("/ack"),
  component: lazyRouteComponent(() => import("../pages/auth/Ack"), "Ack"),
});

/** Pages of a user or an organization. They require a session and no project. */
export const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  beforeLoad: async ({ location }) => {
    await requireSession(location.href);
  },
});
export const finishSetup = createRoute({
  getParentRoute: () => signedIn,
  path: "/finish-setup",
  component: lazyRouteComponent(() => import("../pages/auth/FinishSetup"), "FinishSetup"),
});
export const device = createRoute({
  getParentRoute: () => signedIn,
  path: "/device",
  component: lazyRouteComponent(() => import("../pages/auth/Device"), "Device"),
});
export const consent = createRoute({
  getParentRoute: () => signedIn,
  path: "/oauth/authorize",
  validateSearch: (raw: Raw): ConsentSearch => ({
    response_type: text(raw.response_type),
    client_id: text(raw.client_id),
    redirect_uri: text(raw.redirect_uri),
    code_challenge: text(raw.code_challenge),
    code_challenge_method: text(raw.code_challenge_method),
    state: text(raw.state),
    scope: text(raw.scope),
    resource: text(raw.resource),
  }),
  component: lazyRouteComponent(() => import("../pages/auth/Consent"), "Consent"),
});
/** `/settings` without a project opens the settings of the last opened project. */
export const anySettings = createRoute({
  getParentRoute: () => signedIn,
  path: "/settings",
  beforeLoad: async () => {
    const { projects } = await queryClient.ensureQueryData(bundleQuery);
    const pid = (projects.find((one) => one.id === lastProject()) ?? projects[0])?.id ?? "none";
    throw redirect({ to: "/p/$pid/settings", params: { pid } });
  },
});
export const plain = createRoute({
  getParentRoute: () => signedIn,
  id: "plain",
  component: lazyRouteComponent(() => import("../parts/PlainShell"), "PlainShell"),
});
export const ACCOUNT_TABS = ["contact", "security", "tokens", "apps", "log"] as const;
export const accountPage = createRoute({
  getParentRoute: () => plain,
  path: "/account",
  validateSearch: (raw: Raw): { tab?: (typeof ACCOUNT_TABS)[number] } => ({ tab: oneOf(raw.tab, ACCOUNT_TABS) }),
  component: lazyRouteComponent(() => import("../pages/account/Account"), "AccountPage"),
});
export const ORGANIZATION_TABS = ["invitations", "sso", "audit", "settings"] as const;
export interface OrganizationSearch {
  tab?: (typeof ORGANIZATION_TABS)[number];
  org?: number;
  action?: string;
  by?: number;
  before?: string;
}
export const organizationPage = createRoute({
  getParentRoute: () => plain,
  path: "/organization",
  validateSearch: (raw: Raw): OrganizationSearch => ({
    tab: oneOf(raw.tab, ORGANIZATION_TABS),
    org: whole(raw.org, 1),
    action: text(raw.action),
    by: whole(raw.by, 1),
    before: text(raw.before),
  }),
  component: lazyRouteComponent(() => import("../pages/organization/Organization"), "OrganizationPage"),
});
