// Rotates a project's tokens and deletes projects.
import { useQueryClient } from "@tanstack/react-query";
import { bundleQuery } from "./account";
import type { ProjectExtra } from "./account-types";
import { request } from "./client";

export type TokenKind = "runtime" | "upload";

const TOKEN_PATH = { runtime: "/api/projects/token", upload: "/api/projects/source-map-token" } as const;

/** Replaces a token. The previous token stays valid for `graceHours`. */
export async function rotateToken(
  projectId: string,
  kind: TokenKind,
  graceHours: number,
): Promise<Partial<ProjectExtra>> {
  const query = { projectId };
  const { token } = await request<{ token: string }>("POST", TOKEN_PATH[kind], { query, body: { graceHours } });
  const until = new Date(Date.now() + graceHours * 3_600_000).toISOString();
  return kind === "runtime"
    ? { token, previousTokenExpiresAt: until }
    : { sourceMapToken: token, previousSourceMapTokenExpiresAt: until };
}

/** Revokes the previous token before its grace period ends. */
export async function endPreviousToken(projectId: string, kind: TokenKind): Promise<Partial<ProjectExtra>> {
  await request("DELETE", `${TOKEN_PATH[kind]}/previous`, { query: { projectId } });
  return kind === "runtime" ? { previousTokenExpiresAt: null } : { previousSourceMapTokenExpiresAt: null };
}
export function deleteProject(projectId: string, name: string): Promise<unknown> {
  return request("DELETE", "/api/projects", { query: { projectId }, body: { name } });
}

/** Updates a project in the cached login bundle; null removes it. */
export function useCacheProject() {
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
