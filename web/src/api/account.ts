// Who is signed in, and which projects there are.
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { request } from "./client";
import { useProjectId } from "./hooks";
import { keepSession } from "./session";
import type { Bundle, Project, ProjectChange, Registration, Session } from "./types";

export const bundleQuery = queryOptions({
  queryKey: ["bundle"],
  queryFn: () => request<Bundle>("GET", "/api/me/login-bundle"),
  staleTime: 60_000,
});

export function useBundle(): Bundle | undefined {
  return useQuery(bundleQuery).data;
}

export function useProject(): Project | undefined {
  const id = useProjectId();
  return useBundle()?.projects.find((project) => project.id === id);
}

export function hasOrganizations(): Promise<{ hasOrganizations: boolean }> {
  return request("GET", "/api/has-organizations", { anonymous: true });
}

export async function register(form: Registration): Promise<Session> {
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const body = { ...form, timezone, framework: "opentelemetry" };
  const session = await request<Session>("POST", "/api/register", { body, anonymous: true });
  keepSession(session.token);
  return session;
}

export async function login(email: string, password: string): Promise<Session> {
  const session = await request<Session>("POST", "/api/login", { body: { email, password }, anonymous: true });
  keepSession(session.token);
  return session;
}

export function useCreateProject() {
  const client = useQueryClient();
  const projectId = useProjectId();
  return useMutation({
    mutationFn: (name: string) =>
      request<Project>("POST", "/api/projects", { query: { projectId }, body: { name, framework: "opentelemetry" } }),
    onSuccess: (project) =>
      client.setQueryData(bundleQuery.queryKey, (old) => old && { ...old, projects: [...old.projects, project] }),
  });
}

export function useChangeProject() {
  const client = useQueryClient();
  const projectId = useProjectId();
  return useMutation({
    mutationFn: (change: ProjectChange) =>
      request<Project>("PUT", "/api/projects", { query: { projectId }, body: change }),
    onSuccess: (project) =>
      client.setQueryData(
        bundleQuery.queryKey,
        (old) => old && { ...old, projects: old.projects.map((one) => (one.id === project.id ? project : one)) },
      ),
  });
}
