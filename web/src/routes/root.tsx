// The root of all routes, and the session that most of them require.
import { createRootRoute, createRoute, Outlet, redirect } from "@tanstack/react-router";
import { bundleQuery, hasOrganizations } from "../api/account";
import { ApiError } from "../api/client";
import { queryClient } from "../api/query-client";
import { hasSession, lastProject } from "../api/session";
import { Crash } from "../parts/Crash";
import { NotFoundPage } from "../parts/NotFound";

export const root = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage, errorComponent: Crash });

export const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: async () => {
    const bundle = await requireSession("/");
    const last = lastProject();
    const project = bundle.projects.find((one) => one.id === last) ?? bundle.projects[0];
    if (project) throw redirect({ to: "/p/$pid", params: { pid: project.id } });
    throw redirect({ to: "/p/$pid", params: { pid: "none" } });
  },
});

/** Returns the login bundle. Without a session, redirects to the first run or the login page. */
export async function requireSession(next: string) {
  if (hasSession()) {
    try {
      return await queryClient.ensureQueryData(bundleQuery);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
    }
  }
  const { hasOrganizations: any } = await hasOrganizations();
  if (!any) throw redirect({ to: "/setup" });
  throw redirect({ to: "/login", search: { next: next === "/" ? undefined : next } });
}
