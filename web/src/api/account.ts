// The signed-in user and the user's projects.
import { type QueryClient, queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { asRole, mayWrite } from "../model/roles";
import type { Registration } from "../model/types";
import type { People, ProjectChangeExtra, ProjectExtra, SignedIn } from "./account-types";
import { request } from "./client";
import { useProjectId } from "./hooks";
import { applyPreferences } from "./preferences";
import { keepSession } from "./session";

export const bundleQuery = queryOptions({
  queryKey: ["bundle"],
  queryFn: async () => {
    const bundle = await request<People>("GET", "/api/me/login-bundle");
    applyPreferences(bundle.user);
    return bundle;
  },
  staleTime: 60_000,
});

export function useBundle(): People | undefined {
  return useQuery(bundleQuery).data;
}

export function useProject(): ProjectExtra | undefined {
  const id = useProjectId();
  return useBundle()?.projects.find((project) => project.id === id);
}

/** Whether the user may change what belongs to the project of the page. */
export function useMayWrite(): boolean {
  return mayWrite(asRole(useProject()?.role));
}

export function hasOrganizations(): Promise<{ hasOrganizations: boolean; needsSetupCode?: boolean }> {
  return request("GET", "/api/has-organizations", { anonymous: true });
}

/** Stores the session and its bundle, and clears the cached data of the previous user. */
export function enterSession(client: QueryClient, { user, projects, organizations }: People): void {
  client.clear();
  keepSession();
  applyPreferences(user);
  client.setQueryData(bundleQuery.queryKey, { user, projects, organizations });
}

export async function register(form: Registration): Promise<SignedIn> {
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const body = { ...form, timezone, framework: "opentelemetry" };
  return request("POST", "/api/register", { body, anonymous: true });
}

export function useCreateProject() {
  const client = useQueryClient();
  const projectId = useProjectId();
  return useMutation({
    mutationFn: (name: string) =>
      request<ProjectExtra>("POST", "/api/projects", {
        query: { projectId },
        body: { name, framework: "opentelemetry" },
      }),
    onSuccess: (project) =>
      client.setQueryData(bundleQuery.queryKey, (old) => old && { ...old, projects: [...old.projects, project] }),
  });
}

export function useChangeProject() {
  const client = useQueryClient();
  const projectId = useProjectId();
  return useMutation({
    mutationFn: (change: ProjectChangeExtra) =>
      request<ProjectExtra>("PUT", "/api/projects", { query: { projectId }, body: change }),
    onSuccess: (project) =>
      client.setQueryData(
        bundleQuery.queryKey,
        (old) => old && { ...old, projects: old.projects.map((one) => (one.id === project.id ? project : one)) },
      ),
  });
}
