// A project's tokens and its end.
import { useQueryClient } from "@tanstack/react-query";
import { bundleQuery } from "./account";
import type { ProjectExtra } from "./account-types";
import { request } from "./client";

export type TokenKind = "runtime" | "upload";

export function rotateToken(projectId: string, kind: TokenKind, graceHours: number): Promise<ProjectExtra> {
  return request("POST", "/api/projects/rotate-token", { query: { projectId }, body: { kind, graceHours } });
}
export async function makeUploadToken(projectId: string): Promise<string> {
  const answer = await request<{ token?: string; sourceMapToken?: string }>("POST", "/api/projects/source-map-token", {
    query: { projectId },
    body: {},
  });
  return answer.token ?? answer.sourceMapToken ?? "";
}
export function deleteProject(projectId: string, name: string): Promise<unknown> {
  return request("DELETE", "/api/projects", { query: { projectId }, body: { name } });
}

/** Puts a changed project into what is known about the account; null takes it out. */
export function useKeepProject() {
  const client = useQueryClient();
  return (id: string, change: Partial<ProjectExtra> | null) =>
    client.setQueryData(
      bundleQuery.queryKey,
      (old) =>
        old && {
          ...old,
          projects: change
            ? old.projects.map((one) => (one.id === id ? { ...one, ...change } : one))
            : old.projects.filter((one) => one.id !== id),
        },
    );
}
